import type { Logger } from '../logging/logging.ts';
import type { RedisMetrics } from '../metrics/shared.ts';

/** The error codes of a server that refuses the client. */
const REFUSALS: ReadonlySet<string> = new Set(['WRONGPASS', 'NOAUTH', 'NOPERM']);

const UNREACHABLE = 'Redis cannot be reached, retrying';
const REFUSED = 'Redis refuses the user, the password or the rights of the user, retrying';

export interface RedisReports {
  onDown(reason: string): void;
  onUp(): void;
  /** Called after each heartbeat. A Redis that refuses writes, or hangs, keeps its connections. */
  onBeat(isWritten: boolean): void;
  onEvicting(policy: string): void;
  onUnverified(): void;
  /** Called when Redis runs out of room for the history, and when it has room again. */
  onRoom(isFull: boolean): void;
  onLook(memory: { readonly used: number; readonly max: number } | undefined): void;
}

/** Logs when the connection to Redis is lost and restored, each once, sets the gauges, and warns about the server. */
export function redisReports(log: Logger, metrics: RedisMetrics): RedisReports {
  let logged: string | undefined;
  let isConnected = false;
  let isWritable = true;
  const show = (): void => metrics.redisUp.set(isConnected && isWritable ? 1 : 0);
  return {
    onDown: (reason) => {
      const message = REFUSALS.has(reason) ? REFUSED : UNREACHABLE;
      if (logged !== message) log.warning(message, { reason });
      logged = message;
      isConnected = false;
      show();
    },
    onUp: () => {
      if (logged !== undefined) log.info('Redis is reachable again');
      logged = undefined;
      isConnected = true;
      show();
    },
    onBeat: (isWritten) => {
      isWritable = isWritten;
      show();
    },
    onEvicting: (policy) => {
      log.warning('Redis may drop jobs when its memory is full: expected maxmemory-policy noeviction', {
        given: policy,
      });
    },
    onRoom: (isFull) => {
      metrics.redisFull.set(isFull ? 1 : 0);
      if (isFull)
        log.warning(
          'Redis has no room: its history is dropped and not written; reloads wait if that is not enough',
        );
      else log.info('Redis has room again, the history is written');
    },
    onLook: (memory) => metrics.redisUsed.set(memory ? memory.used / memory.max : 0),
    onUnverified: () => {
      log.warning(
        '--redis-tls-insecure-skip-verify: anyone between this process and Redis can read and change everything',
      );
    },
  };
}
