import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds before each further try. */
const TRIED_AGAIN_AFTER = [100, 400] as const;
/** Milliseconds after which nothing is tried again: what got no answer in that time may still be done. */
const PATIENCE = 5_000;

/** Tries up to three times what follows a write that was done. Rejects as the last try. */
export async function tryAgain<Result>(task: () => Promise<Result>): Promise<Result> {
  const end = performance.now() + PATIENCE;
  for (const wait of TRIED_AGAIN_AFTER) {
    try {
      return await task();
    } catch (error) {
      if (performance.now() > end) throw error;
      await pause(wait);
    }
  }
  return await task();
}
