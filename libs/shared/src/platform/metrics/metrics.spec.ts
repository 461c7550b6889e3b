import { setTimeout } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { describe, expect, it, vi } from 'vitest';
import { createRegistry, histogram } from './registry.ts';
import { restClientMetrics } from './rest-client.ts';
import { watcherMetrics } from './watcher.ts';
import { workerMetrics } from './worker.ts';

async function served(fill: (registry: Registry) => unknown): Promise<string> {
  const registry = new Registry();
  fill(registry);
  return registry.metrics();
}

describe('the metrics of the worker', () => {
  it.each([
    'reloader_reload_executed_total{success="true"} 0',
    'reloader_reload_executed_total{success="false"} 0',
    'reloader_reconcile_total{result="skipped"} 0',
    'reloader_reconcile_duration_seconds_count{result="success"} 0',
    'reloader_action_total{workload_kind="StatefulSet",result="error"} 0',
    'reloader_action_latency_seconds_bucket{le="60",workload_kind="DaemonSet"} 0',
    'reloader_skipped_total{reason="strategy_not_updated"} 0',
    'reloader_workqueue_adds_total 0',
    'reloader_workqueue_latency_seconds_count 0',
    'reloader_errors_total{type="handler_error"} 0',
    'reloader_retries_total 0',
    'reloader_events_processed_total{event_type="unknown",resource_type="secrets",result="dropped"} 0',
    'reloader_events_processed_total{event_type="unknown",resource_type="secretproviderclasspodstatuses",result="success"} 0',
    'reloader_workloads_scanned_total{kind="Deployment"} 0',
    'reloader_workloads_matched_total{kind="Deployment"} 0',
    'reroll_jobs_total{queue="reloads",result="failed"} 0',
    'reroll_outcomes_total{reason="Reloaded"} 0',
    'reroll_notifications_total{type="alert",result="failed"} 0',
    'reroll_patch_conflicts_total 0',
    'reroll_kube_events_dropped_total 0',
  ])('have %s before the first event', async (line) => {
    expect((await served((registry) => workerMetrics(registry, ['Reloaded']))).split('\n')).toContain(line);
  });
});

describe('the count by namespace', () => {
  const NAME = 'reloader_reload_executed_total_by_namespace';

  it('is there only if it is wanted', async () => {
    expect(await served((registry) => workerMetrics(registry))).not.toContain(NAME);
    const text = await served((registry) => {
      const { reloadExecutedByNamespace } = workerMetrics(registry, [], true);
      reloadExecutedByNamespace?.inc({ success: 'true', namespace: 'shop' });
    });
    expect(text).toContain(`${NAME}{success="true",namespace="shop"} 1`);
  });

  it('has a bounded number of series, however many namespaces somebody makes, and loses no reload', async () => {
    const text = await served((registry) => {
      const { reloadExecutedByNamespace } = workerMetrics(registry, [], true);
      for (const success of ['true', 'false'] as const)
        for (let n = 0; n < 1_500; n += 1) reloadExecutedByNamespace?.inc({ success, namespace: `ns-${n}` });
    });
    const lines = text.split('\n').filter((line) => line.startsWith(`${NAME}{`));
    expect(lines).toHaveLength(2 * 1_001);
    expect(lines).toContain(`${NAME}{success="true",namespace="ns-999"} 1`);
    for (const success of ['true', 'false'])
      expect(lines).toContain(`${NAME}{success="${success}",namespace="_other"} 500`);
  });
});

describe('the metrics of the watcher', () => {
  it.each([
    'reloader_events_received_total{event_type="delete",resource_type="configmaps"} 0',
    'reloader_events_received_total{event_type="add",resource_type="secretproviderclasspodstatuses"} 0',
    'reloader_reconcile_total{result="skipped"} 0',
    'reroll_leader 0',
    'reroll_synced 0',
    'reroll_objects{kind="Secret"} 0',
    'reloader_workqueue_depth 0',
    'reroll_queue_oldest_seconds{queue="reloads"} 0',
    'reroll_queue_ready_jobs{queue="reloads"} 0',
    'reroll_redis_up 0',
    'reroll_owed_workloads 0',
    'reroll_oldest_owed_seconds 0',
    'reroll_relists_total{kind="Deployment"} 0',
    'reroll_watch_reconnects_total{kind="ConfigMap"} 0',
    'reroll_handler_errors_total{kind="ConfigMap"} 0',
    'reroll_catalog_writes_total{result="refused"} 0',
    'reroll_publish_retries_total 0',
    'reroll_pod_reads_total{result="error"} 0',
    'reroll_sweep_duration_seconds_count 0',
  ])('have %s before the first event', async (line) => {
    expect((await served(watcherMetrics)).split('\n')).toContain(line);
  });

  it('have labels that turn up as they come, once they do', async () => {
    const text = await served((registry) => watcherMetrics(registry).wakes.inc({ reason: 'sweep' }));
    expect(text).toContain('reroll_wakes_total{reason="sweep"} 1');
  });
});

/** The metrics of stakater/Reloader, chart 2.2.16, with their labels. */
const INCUMBENT: readonly (readonly [name: string, labels: readonly string[]])[] = [
  ['reloader_reload_executed_total', ['success']],
  ['reloader_reload_executed_total_by_namespace', ['success', 'namespace']],
  ['reloader_reconcile_total', ['result']],
  ['reloader_reconcile_duration_seconds', ['result']],
  ['reloader_action_total', ['workload_kind', 'result']],
  ['reloader_action_latency_seconds', ['workload_kind']],
  ['reloader_skipped_total', ['reason']],
  ['reloader_workqueue_depth', []],
  ['reloader_workqueue_adds_total', []],
  ['reloader_workqueue_latency_seconds', []],
  ['reloader_errors_total', ['type']],
  ['reloader_retries_total', []],
  ['reloader_events_received_total', ['event_type', 'resource_type']],
  ['reloader_events_processed_total', ['event_type', 'resource_type', 'result']],
  ['reloader_workloads_scanned_total', ['kind']],
  ['reloader_workloads_matched_total', ['kind']],
  ['rest_client_requests_total', ['code', 'method', 'host']],
  ['rest_client_request_duration_seconds', ['verb', 'host']],
];

it.each(INCUMBENT)('the metric %s of stakater/Reloader is served, with the labels %j', (name, labels) => {
  const watcher = new Registry();
  const worker = new Registry();
  restClientMetrics(worker);
  watcherMetrics(watcher);
  workerMetrics(worker, [], true);
  const metric = worker.getSingleMetric(name) ?? watcher.getSingleMetric(name);
  const { labelNames } = metric as unknown as { labelNames?: readonly string[] };
  expect([...(labelNames ?? ['none such'])].sort()).toEqual([...labels].sort());
});

describe('every metric', () => {
  const registry = new Registry();
  const other = new Registry();
  restClientMetrics(registry);
  watcherMetrics(registry);
  workerMetrics(other);
  const all = [...registry.getMetricsAsArray(), ...other.getMetricsAsArray()];

  it.each(all.map((metric) => [metric.name, metric.constructor.name, metric.help] as const))(
    '%s, a %s, has a good name and says what it is',
    (name, type, help) => {
      expect(name).toMatch(/^(?:reloader|reroll|rest_client)_[a-z_]+$/u);
      expect(name.endsWith('_total')).toBe(type === 'Counter');
      if (type === 'Histogram') expect(name).toMatch(/_seconds$/u);
      expect(help).toMatch(/^[A-Z1].*\.$/u);
    },
  );
});

describe('a registry', () => {
  it('has the metrics of the process, and is its own', async () => {
    const registry = createRegistry();
    restClientMetrics(registry);
    restClientMetrics(createRegistry());
    expect(await registry.metrics()).toMatch(/^process_cpu_seconds_total \d/mu);
  });

  it('keeps the buckets that it is given', async () => {
    const text = await served((registry) =>
      histogram(registry, { name: 'x_seconds', help: 'X.', buckets: [1, 2] }),
    );
    expect(text).toContain('x_seconds_bucket{le="2"} 0');
  });
});

describe('the metrics of every process', () => {
  it('have the longest turn of the event loop since the last scrape', async () => {
    const registry = createRegistry();
    // An event that begins within 10 ms of a scrape is missed.
    await vi.waitFor(async () => {
      await setTimeout(50);
      const began = performance.now();
      while (performance.now() - began < 100) continue;
      const heldUp = (performance.now() - began) / 1_000;
      await setTimeout(50);
      const metrics = await registry.getMetricsAsJSON();
      const longest = metrics.find(({ name }) => name === 'nodejs_eventloop_lag_max_seconds');
      expect(longest?.values[0]?.value).toBeGreaterThanOrEqual(heldUp);
    }, 5_000);
  });
});
