import type { Gauge } from 'prom-client';
import type { Logger } from './logging.ts';

/** Tells the ups and downs of a connection to Redis: each once in the log, and as a gauge. */
export function redisReports(log: Logger, redisUp: Gauge): { onDown(reason: string): void; onUp(): void } {
  let down = false;
  return {
    onDown: (reason) => {
      if (!down) log.warning('Redis cannot be reached, trying again', { reason });
      down = true;
      redisUp.set(0);
    },
    onUp: () => {
      if (down) log.info('Redis is reachable again');
      down = false;
      redisUp.set(1);
    },
  };
}
