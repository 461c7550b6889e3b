import { errorPhrase } from './error-fields.ts';
import type { Logger } from './logging.ts';

/** Milliseconds. */
const AGAIN_AFTER = 60_000;

/** Returns a function for the failures of something that is tried again and again. It logs each new one, and the same one once a minute. */
export function repeatedFailure(log: Logger, message: string): (error: unknown) => void {
  let last: string | undefined;
  let againAt = 0;
  return (error) => {
    const now = performance.now();
    const phrase = errorPhrase(error);
    if (phrase === last && now < againAt) return;
    last = phrase;
    againAt = now + AGAIN_AFTER;
    log.failure(message, error);
  };
}
