import type { JSX } from 'preact';
import { localTime, utcTime } from '../time.ts';

/** A time in the reader's zone, with UTC as its title. */
export function Time({ at, none = '–' }: { at: string | null | undefined; none?: string }): JSX.Element {
  if (at === null || at === undefined) return <span class="muted">{none}</span>;
  const time = new Date(at);
  return (
    <time dateTime={at} title={utcTime(time)}>
      {localTime(time, new Date())}
    </time>
  );
}
