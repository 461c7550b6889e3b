import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterError } from './errors.ts';

export interface WaitOptions {
  /** Completes the sentence "timed out waiting for …". */
  readonly what: string;
  readonly timeoutMs: number;
  /** Pause between two looks, in milliseconds. Default 25. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Looks until the condition holds. A condition that throws ends the wait with its error.
 * @throws ClusterError after `timeoutMs`; the reason of the signal when it aborts.
 */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  options: WaitOptions,
): Promise<void> {
  const { what, timeoutMs, everyMs = 25, signal } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    if (await condition()) return;
    if (performance.now() > deadline) {
      throw new ClusterError(`timed out waiting for ${what}: expected within ${timeoutMs / 1000} s`);
    }
    await sleep(everyMs);
  }
}
