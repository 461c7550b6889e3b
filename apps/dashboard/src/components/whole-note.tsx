import type { JSX } from 'preact';
import { route } from '../router.ts';

/** Where a reader who has chosen a namespace is shown more than that. */
export function WholeNote({ text }: { text: string }): JSX.Element | null {
  return route.value.namespace === '' ? null : <p class="lead">{text}</p>;
}
