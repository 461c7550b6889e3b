import type { Registry } from 'prom-client';
import { counter, gauge, histogram } from './registry.ts';
import { WORKLOAD_KINDS } from '@reroll/core/model';
import { OTHER_NAMESPACES } from './by-namespace.ts';
import { MOST_NAMESPACES, queueMetrics, RESOURCE_TYPES } from './shared.ts';

const KINDS = ['ConfigMap', 'Secret', ...WORKLOAD_KINDS];

export type WatcherMetrics = ReturnType<typeof watcherMetrics>;

function streamMetrics(registry: Registry) {
  return {
    eventsReceived: counter(registry, {
      name: 'reloader_events_received_total',
      help: 'Events received from the Kubernetes API, by type of event and resource.',
      labels: { event_type: ['add', 'update', 'delete'], resource_type: RESOURCE_TYPES },
    }),
    reconcile: counter(registry, {
      name: 'reloader_reconcile_total',
      help: 'Changes handled, by result; skipped: writes that did not change the data of the source.',
      labels: { result: ['skipped'] },
    }),
    skipped: counter(registry, {
      name: 'reloader_skipped_total',
      help: 'Times that nothing was done, by reason.',
      labels: { reason: ['no_data_change'] },
    }),
    objects: gauge(registry, {
      name: 'reroll_objects',
      help: 'Objects that the watcher watches, by kind.',
      labels: { kind: KINDS },
    }),
    relists: counter(registry, {
      name: 'reroll_relists_total',
      help: 'Full lists because a watch could not be resumed, by kind.',
      labels: { kind: KINDS },
    }),
    watchReconnects: counter(registry, {
      name: 'reroll_watch_reconnects_total',
      help: 'Watches that ended and were resumed, by kind.',
      labels: { kind: KINDS },
    }),
    handlerErrors: counter(registry, {
      name: 'reroll_handler_errors_total',
      help: 'Events that could not be handled, by kind.',
      labels: { kind: KINDS },
    }),
  };
}

function leaderMetrics(registry: Registry) {
  return {
    leader: gauge(registry, {
      name: 'reroll_leader',
      help: '1 while this watcher is the leader, otherwise 0.',
    }),
    etcdRestores: counter(registry, {
      name: 'reroll_etcd_restores_total',
      help: 'Restores of etcd that this watcher noticed. It then resets the catalog and restarts.',
    }),
    synced: gauge(registry, {
      name: 'reroll_synced',
      help: '1 once every stream has completed its first list, otherwise 0.',
    }),
    pendingWorkloads: gauge(registry, {
      name: 'reroll_owed_workloads',
      help: 'Pending workloads: their pods have older data than their ConfigMaps and Secrets.',
    }),
    contestedWorkloads: gauge(registry, {
      name: 'reroll_contested_workloads',
      help: 'Workloads that are no longer reloaded because another controller keeps removing their marker.',
    }),
    contestedIn: gauge(registry, {
      name: 'reroll_namespace_contested_workloads',
      help: `Workloads in conflict by namespace, as in reroll_contested_workloads, for the ${MOST_NAMESPACES} namespaces with the most, and for the others as ${OTHER_NAMESPACES}.`,
      labels: { workload_namespace: [] },
    }),
    oldestPendingIn: gauge(registry, {
      name: 'reroll_namespace_oldest_owed_seconds',
      help: `How long the oldest pending workload of a namespace has been pending, in seconds, for the ${MOST_NAMESPACES} namespaces that have waited longest, and for the others as ${OTHER_NAMESPACES}.`,
      labels: { workload_namespace: [] },
    }),
    oldestPending: gauge(registry, {
      name: 'reroll_oldest_owed_seconds',
      help: 'How long the oldest pending workload has been pending, in seconds; 0 if none is.',
    }),
  };
}

function staleMetrics(registry: Registry) {
  return {
    staleWorkloads: gauge(registry, {
      name: 'reroll_stale_workloads',
      help: 'Workloads whose pods may have older data of a dependency: they are pending, held or not, or a rollout with newer data is incomplete.',
    }),
    oldestStaleRollout: gauge(registry, {
      name: 'reroll_oldest_stale_rollout_seconds',
      help: 'Age of the oldest incomplete rollout with newer data, in seconds; 0 if there is none.',
    }),
    rolloutSlots: gauge(registry, {
      name: 'reroll_rollout_slots',
      help: 'Workloads that use or wait for a slot of --max-concurrent-rollouts or its annotation; set by the leader.',
      labels: { state: ['used', 'waiting'] },
    }),
    certificateExpiry: gauge(registry, {
      name: 'reroll_certificate_expiry_timestamp_seconds',
      help: 'When the certificate that pods started with expires, in Unix seconds, by kubernetes.io/tls Secret that a workload depends on. If pods have several, the first to expire.',
      labels: { secret_namespace: [], secret: [] },
    }),
    certificatesLeftOut: gauge(registry, {
      name: 'reroll_certificates_left_out',
      help: 'Secrets of type kubernetes.io/tls that a workload depends on and that have no reroll_certificate_expiry_timestamp_seconds, by reason; too_many: only the 1,000 that expire first have it.',
      labels: { reason: ['unreadable', 'too_many'] },
    }),
  };
}

const MEASURED = ['changes', 'reloads', 'resumes', 'notifications'];

/** Set only by the leader, so that a sum over all processes is right. Without series while it cannot measure the queues. */
function depthMetrics(registry: Registry) {
  return {
    workqueueDepth: gauge(registry, {
      name: 'reloader_workqueue_depth',
      help: 'Waiting change and reload jobs, including delayed ones; 0 on a standby, absent while the leader cannot measure the queues.',
    }),
    queueReady: gauge(registry, {
      name: 'reroll_queue_ready_jobs',
      help: 'Jobs that are ready to run and wait for a worker, without delayed ones, by queue; set by the leader, absent while it cannot measure the queues.',
      labels: { queue: MEASURED },
    }),
    queueOldest: gauge(registry, {
      name: 'reroll_queue_oldest_seconds',
      help: 'How long the oldest job that is ready to run has waited for a worker, in seconds, by queue; set by the leader, absent while it cannot measure the queues.',
      labels: { queue: MEASURED },
    }),
  };
}

function publishMetrics(registry: Registry) {
  return {
    catalogWrites: counter(registry, {
      name: 'reroll_catalog_writes_total',
      help: 'Writes to the catalog, by result; refused: another watcher is the leader.',
      labels: { result: ['success', 'refused', 'error'] },
    }),
    wakes: counter(registry, {
      name: 'reroll_wakes_total',
      help: 'Reload jobs that the watcher enqueued, by reason.',
      labels: { reason: [] },
    }),
    publishRetries: counter(registry, {
      name: 'reroll_publish_retries_total',
      help: 'Retried writes to Redis.',
    }),
    podReads: counter(registry, {
      name: 'reroll_pod_reads_total',
      help: 'Times that the pods of a stuck rollout were listed, by result. Requires --rollout-details.',
      labels: { result: ['success', 'error'] },
    }),
    resyncDuration: histogram(registry, {
      name: 'reroll_sweep_duration_seconds',
      help: 'Duration of a resync, in seconds.',
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
    }),
  };
}

export function watcherMetrics(registry: Registry) {
  return {
    ...streamMetrics(registry),
    ...leaderMetrics(registry),
    ...staleMetrics(registry),
    ...depthMetrics(registry),
    ...publishMetrics(registry),
    ...queueMetrics(registry),
  };
}
