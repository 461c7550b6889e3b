import type { Logger } from '../logging/logging.ts';
import type { RedisMetrics } from '../metrics/shared.ts';

/** What a server says that lets nobody in. */
const REFUSALS: ReadonlySet<string> = new Set(['WRONGPASS', 'NOAUTH', 'NOPERM']);

const UNREACHABLE = 'Redis cannot be reached, trying again';
const REFUSED = 'Redis refuses the user, the password or the rights that it has, trying again';

export interface RedisReports {
  onDown(reason: string): void;
  onUp(): void;
  onEvicting(policy: string): void;
  onUnverified(): void;
  /** Redis has no room for a history any more, or has it again. */
  onRoom(isFull: boolean): void;
  onLook(memory: { readonly used: number; readonly max: number } | undefined): void;
}

/** Tells the ups and downs of a connection to Redis, each once in the log and as a gauge, and what is wrong with the server. */
export function redisReports(log: Logger, metrics: RedisMetrics): RedisReports {
  let told: string | undefined;
  return {
    onDown: (reason) => {
      const message = REFUSALS.has(reason) ? REFUSED : UNREACHABLE;
      if (told !== message) log.warning(message, { reason });
      told = message;
      metrics.redisUp.set(0);
    },
    onUp: () => {
      if (told !== undefined) log.info('Redis is reachable again');
      told = undefined;
      metrics.redisUp.set(1);
    },
    onEvicting: (policy) => {
      log.warning('Redis may drop jobs when its memory is full: expected maxmemory-policy noeviction', {
        given: policy,
      });
    },
    onRoom: (isFull) => {
      metrics.redisFull.set(isFull ? 1 : 0);
      if (isFull) log.warning('Redis has no room: its history is dropped and not written; reloads go on');
      else log.info('Redis has room again, the history is written');
    },
    onLook: (memory) => metrics.redisUsed.set(memory ? memory.used / memory.max : 0),
    onUnverified: () => {
      log.warning(
        '--redis-tls-insecure-skip-verify: whoever is between here and Redis can read and write everything',
      );
    },
  };
}
