import { Redis } from 'ioredis';

/** Longest wait between two attempts to connect, in milliseconds. It is tried for ever. */
const MAX_RECONNECT_DELAY = 2_000;
/** A command that has no answer after so many milliseconds fails; the caller decides what then. */
const COMMAND_TIMEOUT = 10_000;
const WAITING_TIMEOUT = 3 * COMMAND_TIMEOUT;

export interface RedisHooks {
  /** The connection was lost or could not be made; only the class of what went wrong. */
  onDown(errorClass: string): void;
  onUp(): void;
}

/**
 * A connection for catalog and history: it reconnects for ever with growing pauses, and a command fails
 * after ten seconds rather than wait for ever. The caller closes it.
 */
export function openRedis(url: string, hooks: RedisHooks): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    commandTimeout: COMMAND_TIMEOUT,
    enableAutoPipelining: true,
    retryStrategy: reconnectDelay,
    lazyConnect: false,
  });
  redis.on('error', (error: Error) => {
    hooks.onDown((error as { code?: string }).code ?? error.name);
  });
  redis.on('ready', () => {
    hooks.onUp();
  });
  return redis;
}

/**
 * A connection of the same kind for those who wait for jobs: BullMQ does so in one command of up to ten
 * seconds, which must have an answer before its deadline, or every long wait ends as an error and new jobs
 * lie for seconds. The caller closes it. Its ups and downs are told by the connection given.
 */
export function openForWaiting(redis: Redis): Redis {
  const waiting = redis.duplicate({ commandTimeout: WAITING_TIMEOUT });
  waiting.on('error', () => undefined);
  return waiting;
}

/** 50 ms, 100 ms, … 2 s, with up to a quarter of jitter. */
export function reconnectDelay(attempt: number): number {
  const delay = Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY);
  return Math.round(delay * (1 - Math.random() / 4));
}
