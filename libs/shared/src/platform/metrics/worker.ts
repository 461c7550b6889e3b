/** The metrics of the worker: those of stakater/Reloader under their names, and our own. */
import type { Registry } from 'prom-client';
import { counter, gauge, histogram } from './registry.ts';
import { WORKLOAD_KINDS } from '@reroll/core/model';
import { countByNamespace, OTHER_NAMESPACES } from './by-namespace.ts';
import { MOST_NAMESPACES, queueMetrics, RESOURCE_TYPES } from './shared.ts';

/** The watcher counts `skipped`, because it drops such a write. */
const RECONCILE_RESULTS = ['success', 'error', 'skipped'];
const QUEUES = ['changes', 'reloads', 'resumes', 'notifications'];

export type WorkerMetrics = ReturnType<typeof workerMetrics>;

function reloadMetrics(registry: Registry) {
  return {
    reloadExecuted: counter(registry, {
      name: 'reloader_reload_executed_total',
      help: 'Counter of reloads executed by Reloader.',
      labels: { success: ['true', 'false'] },
    }),
    action: counter(registry, {
      name: 'reloader_action_total',
      help: 'Reloads of workloads, by kind and result.',
      labels: { workload_kind: WORKLOAD_KINDS, result: ['success', 'error'] },
    }),
    actionLatency: histogram(registry, {
      name: 'reloader_action_latency_seconds',
      help: "Time from the watcher's event to the response to the patch of a workload, including waits, by kind.",
      labels: { workload_kind: WORKLOAD_KINDS },
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    }),
    workloadsScanned: counter(registry, {
      name: 'reloader_workloads_scanned_total',
      help: 'Workloads evaluated for a change, by kind.',
      labels: { kind: WORKLOAD_KINDS },
    }),
    workloadsMatched: counter(registry, {
      name: 'reloader_workloads_matched_total',
      help: 'Workloads that a change was to reload, by kind.',
      labels: { kind: WORKLOAD_KINDS },
    }),
    skipped: counter(registry, {
      name: 'reloader_skipped_total',
      help: 'Times that nothing was done, by reason.',
      labels: { reason: ['ignored_or_not_selected', 'no_data_change', 'strategy_not_updated'] },
    }),
  };
}

function reconcileMetrics(registry: Registry) {
  return {
    reconcile: counter(registry, {
      name: 'reloader_reconcile_total',
      help: 'Changes handled, by result.',
      labels: { result: RECONCILE_RESULTS },
    }),
    reconcileDuration: histogram(registry, {
      name: 'reloader_reconcile_duration_seconds',
      help: 'Time taken to handle a change, by result.',
      labels: { result: RECONCILE_RESULTS },
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    }),
    eventsProcessed: counter(registry, {
      name: 'reloader_events_processed_total',
      help: 'Change jobs processed, by event type (always unknown), resource and result.',
      labels: { event_type: ['unknown'], resource_type: RESOURCE_TYPES, result: ['success', 'dropped'] },
    }),
  };
}

function workqueueMetrics(registry: Registry) {
  return {
    workqueueLatency: histogram(registry, {
      name: 'reloader_workqueue_latency_seconds',
      help: 'Time that a job waited in its queue, without its delay.',
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    }),
    retries: counter(registry, {
      name: 'reloader_retries_total',
      help: 'Retried attempts.',
    }),
  };
}

function ownMetrics(registry: Registry, reasons: readonly string[]) {
  return {
    jobs: counter(registry, {
      name: 'reroll_jobs_total',
      help: 'Jobs that ended, by queue and result: succeeded, to be retried, failed after all attempts, or invalid, because they could not be read.',
      labels: { queue: QUEUES, result: ['success', 'retry', 'failed', 'invalid'] },
    }),
    jobDuration: histogram(registry, {
      name: 'reroll_job_duration_seconds',
      help: 'Duration of one attempt of a job, by queue.',
      labels: { queue: QUEUES },
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    }),
    reloadLatency: histogram(registry, {
      name: 'reroll_reload_latency_seconds',
      help: "Time from the watcher's event to the patch of a workload, including the debounce.",
      buckets: [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5, 10, 30, 60, 300],
    }),
    outcomes: counter(registry, {
      name: 'reroll_outcomes_total',
      help: 'Outcomes of reload jobs, by reason.',
      labels: { reason: reasons },
    }),
    lastFailedIn: gauge(registry, {
      name: 'reroll_namespace_last_failed_reload_timestamp_seconds',
      help: `When a reload job of a namespace last failed after all attempts, in Unix seconds, for the ${MOST_NAMESPACES} namespaces in which one failed last, and for the others as ${OTHER_NAMESPACES}.`,
      labels: { workload_namespace: [] },
    }),
    notifications: counter(registry, {
      name: 'reroll_notifications_total',
      help: 'Alerts and webhook requests, by result: delivered, to be retried, failed after all attempts, or lost because they could not be enqueued.',
      labels: { type: ['alert', 'webhook'], result: ['delivered', 'retry', 'failed', 'lost'] },
    }),
    patchConflicts: counter(registry, {
      name: 'reroll_patch_conflicts_total',
      help: 'Patches rejected because the workload had changed since it was read. It is read again.',
    }),
    kubeEventsDropped: counter(registry, {
      name: 'reroll_kube_events_dropped_total',
      help: 'Kubernetes Events that could not be written.',
    }),
    historyDropped: counter(registry, {
      name: 'reroll_history_dropped_total',
      help: 'History entries that were not written, by reason: too many writes in progress, no room in Redis, or an error.',
      labels: { reason: ['busy', 'full', 'error'] },
    }),
  };
}

/**
 * `outcomeReasons`: the reasons for which `reroll_outcomes_total` starts at zero. `isCountedByNamespace`: whether reloads are
 * also counted by namespace.
 */
export function workerMetrics(
  registry: Registry,
  outcomeReasons: readonly string[] = [],
  isCountedByNamespace = false,
) {
  return {
    reloadExecutedByNamespace: isCountedByNamespace ? countByNamespace(registry) : undefined,
    ...reloadMetrics(registry),
    ...reconcileMetrics(registry),
    ...workqueueMetrics(registry),
    ...ownMetrics(registry, outcomeReasons),
    ...queueMetrics(registry),
  };
}
