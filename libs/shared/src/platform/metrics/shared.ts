/** Metrics that watcher and worker share. */
import type { Counter, Registry } from 'prom-client';
import type { SourceKind } from '@reroll/core/model';
import { counter, gauge } from './registry.ts';

/** The label `resource_type` of each kind of source, as in stakater/Reloader: what is watched for it. */
const RESOURCE_TYPE: Readonly<Record<SourceKind, string>> = {
  ConfigMap: 'configmaps',
  Secret: 'secrets',
  SecretProviderClass: 'secretproviderclasspodstatuses',
};

export const RESOURCE_TYPES = Object.values(RESOURCE_TYPE);

export function resourceType(kind: SourceKind): string {
  return RESOURCE_TYPE[kind];
}

/** The most series of a metric by namespace that every installation has. */
export const MOST_NAMESPACES = 20;

/** The metrics of Redis that every process has. */
export type RedisMetrics = ReturnType<typeof redisMetrics>;

export function redisMetrics(registry: Registry) {
  return {
    redisUp: gauge(registry, {
      name: 'reroll_redis_up',
      help: '1 while this process is connected to Redis, its last heartbeat was written, and it may write to the queues, otherwise 0.',
    }),
    redisFull: gauge(registry, {
      name: 'reroll_redis_full',
      help: '1 while Redis has no room for the history, so that none is written, otherwise 0.',
    }),
    redisUsed: gauge(registry, {
      name: 'reroll_redis_used_ratio',
      help: 'Fraction of maxmemory that Redis uses; 0 without a limit or if the server does not report it.',
    }),
  };
}

export function heartbeatErrors(registry: Registry): Counter {
  return counter(registry, {
    name: 'reroll_heartbeat_errors_total',
    help: 'Heartbeats that this process could not write to Redis.',
  });
}

export function queueMetrics(registry: Registry) {
  return {
    workqueueAdds: counter(registry, {
      name: 'reloader_workqueue_adds_total',
      help: 'Jobs that this process added to a queue.',
    }),
    ...redisMetrics(registry),
    heartbeatErrors: heartbeatErrors(registry),
    errors: counter(registry, {
      name: 'reloader_errors_total',
      help: 'Errors, by type.',
      labels: { type: ['handler_error', 'invalid_handler_type'] },
    }),
  };
}
