import { signal } from '@preact/signals';
import { endCalm } from './calm.ts';

const KEY = 'reroll-token';

/** The bearer token; empty: none. It lives as long as the tab, and goes into headers only. */
export const token = signal(sessionStorage.getItem(KEY) ?? '');

/** Why the API wants a token, if it does: there was none, or it took the one it got for no good. */
export const refused = signal<'needed' | 'notAccepted' | undefined>(undefined);

export function signIn(given: string): void {
  sessionStorage.setItem(KEY, given);
  become(given);
}

export function signOut(): void {
  sessionStorage.removeItem(KEY);
  become('');
}

/** The API counts the requests of each caller: a pause is that of the last one. */
function become(given: string): void {
  if (given !== token.peek()) endCalm();
  refused.value = undefined;
  token.value = given;
}
