import type { Registry } from 'prom-client';
import { counter, gauge, histogram } from './registry.ts';
import { WORKLOAD_KINDS } from '@reroll/core/model';
import { queueMetrics, RESOURCE_TYPES } from './shared.ts';

const KINDS = ['ConfigMap', 'Secret', ...WORKLOAD_KINDS];

export type WatcherMetrics = ReturnType<typeof watcherMetrics>;

function streamMetrics(registry: Registry) {
  return {
    eventsReceived: counter(registry, {
      name: 'reloader_events_received_total',
      help: 'Number of events received from the Kubernetes API, by type of event and resource.',
      labels: { event_type: ['add', 'update', 'delete'], resource_type: RESOURCE_TYPES },
    }),
    reconcile: counter(registry, {
      name: 'reloader_reconcile_total',
      help: 'Number of changes handled, by result; skipped: writes of a source that did not change its data.',
      labels: { result: ['skipped'] },
    }),
    skipped: counter(registry, {
      name: 'reloader_skipped_total',
      help: 'Number of times that nothing was done, by reason.',
      labels: { reason: ['no_data_change'] },
    }),
    objects: gauge(registry, {
      name: 'reroll_objects',
      help: 'Number of objects that the watcher watches, by kind.',
      labels: { kind: KINDS },
    }),
    relists: counter(registry, {
      name: 'reroll_relists_total',
      help: 'Number of full lists because a watch could not be resumed, by kind.',
      labels: { kind: KINDS },
    }),
    watchReconnects: counter(registry, {
      name: 'reroll_watch_reconnects_total',
      help: 'Number of watches that ended and were resumed, by kind.',
      labels: { kind: KINDS },
    }),
    handlerErrors: counter(registry, {
      name: 'reroll_handler_errors_total',
      help: 'Number of events that could not be handled, by kind.',
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
      help: 'Number of etcd restores that this watcher noticed. It then resets the catalog and restarts.',
    }),
    synced: gauge(registry, {
      name: 'reroll_synced',
      help: '1 once every stream has completed its first list, otherwise 0.',
    }),
    pendingWorkloads: gauge(registry, {
      name: 'reroll_owed_workloads',
      help: 'Number of pending workloads: their pods run with older data than their ConfigMaps and Secrets have.',
    }),
    contestedWorkloads: gauge(registry, {
      name: 'reroll_contested_workloads',
      help: 'Number of workloads that are no longer reloaded because another controller kept removing their marker.',
    }),
    oldestPending: gauge(registry, {
      name: 'reroll_oldest_owed_seconds',
      help: 'How long the longest-waiting workload has been pending, in seconds; 0 if none is.',
    }),
  };
}

function staleMetrics(registry: Registry) {
  return {
    staleWorkloads: gauge(registry, {
      name: 'reroll_stale_workloads',
      help: 'Number of workloads whose pods may run with older data of a source that they depend on: those that are pending, held or not, and those whose rollout brings newer data and is not complete.',
    }),
    oldestStaleRollout: gauge(registry, {
      name: 'reroll_oldest_stale_rollout_seconds',
      help: 'How long the oldest rollout that brings newer data and is not complete has been under way, in seconds; 0 if there is none.',
    }),
    rolloutSlots: gauge(registry, {
      name: 'reroll_rollout_slots',
      help: 'Number of workloads that use a slot of --max-concurrent-rollouts or of its annotation, or wait for one, as seen by the leader.',
      labels: { state: ['used', 'waiting'] },
    }),
    certificateExpiry: gauge(registry, {
      name: 'reroll_certificate_expiry_timestamp_seconds',
      help: 'When the certificate expires that pods started with, in Unix seconds, by Secret of type kubernetes.io/tls that a workload depends on. If pods have several of them, the first one that expires.',
      labels: { secret_namespace: [], secret: [] },
    }),
    certificatesLeftOut: gauge(registry, {
      name: 'reroll_certificates_left_out',
      help: 'Number of Secrets of type kubernetes.io/tls that a workload depends on and that have no reroll_certificate_expiry_timestamp_seconds, by reason; too_many: the 1,000 that expire first have it.',
      labels: { reason: ['unreadable', 'too_many'] },
    }),
  };
}

/** Set only by the leader, so that a sum over all processes is right. */
function depthMetrics(registry: Registry) {
  return {
    workqueueDepth: gauge(registry, {
      name: 'reloader_workqueue_depth',
      help: 'Number of waiting jobs, including delayed ones, as the leader sees them; 0 on a standby.',
    }),
    queueOldest: gauge(registry, {
      name: 'reroll_queue_oldest_seconds',
      help: 'How long the oldest job that is ready to run has waited for a worker, in seconds, as the leader sees it, by queue.',
      labels: { queue: ['changes', 'reloads', 'resumes'] },
    }),
  };
}

function publishMetrics(registry: Registry) {
  return {
    catalogWrites: counter(registry, {
      name: 'reroll_catalog_writes_total',
      help: 'Number of writes to the catalog, by result; refused: another watcher is the leader now.',
      labels: { result: ['success', 'refused', 'error'] },
    }),
    wakes: counter(registry, {
      name: 'reroll_wakes_total',
      help: 'Number of reload jobs that the watcher enqueued, by reason.',
      labels: { reason: [] },
    }),
    publishRetries: counter(registry, {
      name: 'reroll_publish_retries_total',
      help: 'Number of retried writes to Redis.',
    }),
    podReads: counter(registry, {
      name: 'reroll_pod_reads_total',
      help: 'Number of times that the pods of a stuck rollout were listed, by result. Requires --rollout-details.',
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
