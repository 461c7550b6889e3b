import type { Logger } from './logging.ts';

/** Tells the ups and downs of a connection to Redis, each once. */
export function redisReports(log: Logger): { onDown(reason: string): void; onUp(): void } {
  let down = false;
  return {
    onDown: (reason) => {
      if (!down) log.warning('Redis cannot be reached, trying again', { reason });
      down = true;
    },
    onUp: () => {
      if (down) log.info('Redis is reachable again');
      down = false;
    },
  };
}
