import { signal } from '@preact/signals';

const SPOKEN_EVERY = 5_000;

/** What the polite live region says. */
export const announcement = signal('');

let held: string | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says a sentence at once. */
export function announce(sentence: string): void {
  announcement.value = sentence;
}

/** Says the last of what comes, no more often than every five seconds, so that a busy cluster does not talk without end. */
export function announceNews(sentence: string): void {
  if (timer !== undefined) {
    held = sentence;
    return;
  }
  announce(sentence);
  timer = setTimeout(() => {
    timer = undefined;
    const next = held;
    held = undefined;
    if (next !== undefined) announceNews(next);
  }, SPOKEN_EVERY);
}
