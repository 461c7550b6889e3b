import { setTimeout as pause } from 'node:timers/promises';
import { ReplyError } from 'ioredis';
import { CatalogError } from './errors.ts';
import type { RedisHooks } from './redis.ts';
import { redisErrorCode } from './redis-error-code.ts';

const RETRY = 100;

/** What a server answers that is not, or not yet, as it will be: it loads, has lost its master, or a password is to be changed. */
const PASSING: ReadonlySet<string> = new Set([
  'WRONGPASS',
  'NOAUTH',
  'NOPERM',
  'LOADING',
  'READONLY',
  'CLUSTERDOWN',
  'MASTERDOWN',
]);

export interface Waiting {
  readonly signal: AbortSignal;
  /** Told of a server that answers and refuses; whoever opened the connection tells of one that does not answer. */
  readonly hooks: RedisHooks;
}

/**
 * Does this until Redis can be reached and lets us in; undefined if the signal fires first. Rejects with a
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
      // What is left is a command that got no answer in time, or that the end has cut off.
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
