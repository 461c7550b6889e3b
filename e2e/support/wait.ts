import { setTimeout as pause } from 'node:timers/promises';

export interface WaitOptions {
  /** Milliseconds. Default 30 s. */
  readonly within?: number;
  /** Said if it does not come about: "expected …". */
  readonly what?: string;
}

const LOOK_EVERY = 25;

/**
 * Looks again and again until the condition gives something other than `undefined`, `null` or `false` and does
 * not throw, and resolves with that. A failed assertion in the condition is the error if time is up. A condition that only asserts
 * has to return something, too.
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const { within = 30_000, what = 'the condition to hold' } = options;
  const deadline = performance.now() + within;
  let last: unknown;
  for (;;) {
    try {
      last = undefined;
      const value = await condition();
      if (value !== undefined && value !== null && value !== false) {
        return value as Exclude<T, undefined | null | false>;
      }
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) break;
    await pause(LOOK_EVERY);
  }
  if (last instanceof Error) {
    last.message = `${last.message} (still so after ${within} ms)`;
    throw last;
  }
  throw new Error(`expected ${what} within ${within} ms`);
}
