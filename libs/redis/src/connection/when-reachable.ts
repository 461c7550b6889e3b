import { setTimeout as pause } from 'node:timers/promises';
import { ReplyError } from 'ioredis';
import { CatalogError } from './errors.ts';
import type { RedisHooks } from './redis.ts';
import { redisErrorCode } from './redis-error-code.ts';

const RETRY = 100;

/**
 * Error codes of a server in a passing state: it is loading, has lost its master or its replicas, cannot save to its disk, or its
 * password is being changed.
 */
const PASSING: ReadonlySet<string> = new Set([
  'WRONGPASS',
  'NOAUTH',
  'NOPERM',
  'LOADING',
  'READONLY',
  'CLUSTERDOWN',
  'MASTERDOWN',
  'MISCONF',
  'NOREPLICAS',
]);

export interface Waiting {
  readonly signal: AbortSignal;
  /** Called for a server that answers and refuses; the opener of the connection reports one that does not answer. */
  readonly hooks: RedisHooks;
}

/**
 * Repeats the action until Redis can be reached and accepts the login; undefined if the signal fires first. Rejects with a
 * `CatalogError`, or with Redis' own error if it answers and refuses for good.
 */
export async function whenReachable<T>(
  action: () => Promise<T>,
  { signal, hooks }: Waiting,
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      const result = await action();
      hooks.onUp();
      return result;
    } catch (error) {
      // What remains is a command without an answer in time, or one that the shutdown interrupted.
      if (error instanceof CatalogError || isFinal(error)) throw error;
      if (error instanceof ReplyError) hooks.onDown(redisErrorCode(error));
      await pause(RETRY, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

function isFinal(error: unknown): boolean {
  return error instanceof ReplyError && !PASSING.has(redisErrorCode(error));
}
