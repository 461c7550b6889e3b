/** Metrics of the standalone process, besides those of the apps in it. */
import type { Counter, Registry } from 'prom-client';
import { counter } from './registry.ts';

export function redisRestarts(registry: Registry): Counter {
  return counter(registry, {
    name: 'reroll_redis_server_restarts_total',
    help: "Restarts of this process's own Redis after it had ended.",
  });
}
