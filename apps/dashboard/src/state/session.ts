import { signal } from '@preact/signals';

const KEY = 'reroll-token';

/** The bearer token; empty: none. It lives as long as the tab, and goes into headers only. */
export const token = signal(sessionStorage.getItem(KEY) ?? '');

/** Why the API wants a token, if it does: there was none, or it took the one it got for no good. */
export const refused = signal<'needed' | 'notAccepted' | undefined>(undefined);

export function signIn(given: string): void {
  sessionStorage.setItem(KEY, given);
  refused.value = undefined;
  token.value = given;
}

export function signOut(): void {
  sessionStorage.removeItem(KEY);
  token.value = '';
  refused.value = undefined;
}
