import { beforeAll, expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { promqlDifference, type Series } from '../support/promql.ts';
import { refuseUpdates } from '../support/objects/policy.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';
import type { App } from '../support/processes.ts';

/** More than a change takes, so that a latency that holds it is told apart from one that does not. */
/** So long a lone change waits. */
const QUIET_SECONDS = 1;

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  space = await namespace(connect(sharedCluster()));
  await space.apply(
    configMap('cm', { v: '1' }),
    deployment('api', auto(), usingEnvFrom('cm')),
    deployment('web', auto(), usingEnvFrom('cm')),
  );
  reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    debounce: `${5 * QUIET_SECONDS}s`,
    watchers: 2,
    workers: 2,
    env: { METRICS_COUNT_BY_NAMESPACE: 'enabled' },
    flags: ['--log-level=debug', '--attempts=2', '--backoff=50ms'],
  });
  for (const ref of ['Deployment/api', 'Deployment/web']) await inStep(space, ref, ['ConfigMap/cm']);
});

/** The series of a process, by name and labels. */
async function series(app: App): Promise<Series> {
  const lines = (await app.metrics()).split('\n').filter((line) => /^[a-z]/u.test(line));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

/** Of all processes together, as a query that sums reads it. */
async function summed(): Promise<Series> {
  const sum = new Map<string, number>();
  for (const each of await Promise.all([...reroll.watchers, ...reroll.workers].map(series)))
    for (const [name, value] of each) sum.set(name, (sum.get(name) ?? 0) + value);
  return sum;
}

/** By how much each of these grew since, in all processes together. */
async function grown(names: readonly string[], before: Series): Promise<Record<string, number>> {
  const now = await summed();
  return Object.fromEntries(names.map((name) => [name, (now.get(name) ?? 0) - (before.get(name) ?? 0)]));
}

it('a write of metadata is one event received, of two watchers, and no change of data; those of workloads are not counted', async () => {
  const before = await summed();
  await space.annotate('ConfigMap/cm', { note: 'new' });
  await space.annotate('Deployment/api', { note: 'new' });
  const expected = {
    'reloader_events_received_total{event_type="update",resource_type="configmaps"}': 1,
    'reloader_skipped_total{reason="no_data_change"}': 1,
    'reloader_reconcile_total{result="skipped"}': 1,
    'reloader_reconcile_total{result="success"}': 0,
  };
  await eventually(async () => {
    expect(await grown(Object.keys(expected), before)).toEqual(expected);
    const now = await summed();
    expect(now.get('reroll_redis_up')).toBe(4);
    const types = [...now.keys()].flatMap(
      (name) => /^reloader_events_received_total.*resource_type="(\w+)"/u.exec(name)?.[1] ?? [],
    );
    expect(new Set(types)).toEqual(new Set(['configmaps', 'secrets', 'secretproviderclasspodstatuses']));
    return true;
  });
});

/** Queries as dashboards and alerts of stakater/Reloader have them, and what they give for one change that reloads two. */
const USUAL_QUERIES: Readonly<Record<string, number>> = {
  'round(sum(increase(reloader_reload_executed_total{success="true"}[5m])))': 2,
  'sum(increase(reloader_reload_executed_total{success="false"}[5m]))': 0,
  'round(sum(increase(reloader_reload_executed_total_by_namespace{success="true"}[5m])))': 2,
  'round(sum(increase(reloader_action_total{workload_kind="Deployment",result="success"}[5m])))': 2,
  'round(sum(increase(reloader_reconcile_total[5m])))': 1,
  'sum(rate(reloader_reconcile_total{result="error"}[5m])) / sum(rate(reloader_reconcile_total[5m]))': 0,
  'round(sum(increase(reloader_events_received_total{resource_type="configmaps"}[5m])))': 1,
  'round(sum(increase(reloader_events_processed_total{result="success"}[5m])))': 1,
  'round(sum(increase(reloader_workloads_matched_total[5m])))': 2,
  'sum(rate(reloader_errors_total[5m]))': 0,
  'sum(rate(reloader_retries_total[5m]))': 0,
  // Of the watchers alone: workers would add to a sum.
  'count(reloader_workqueue_depth)': 2,
  'histogram_quantile(0.5, sum by (le) (rate(reloader_action_latency_seconds_bucket[5m]))) >= bool 1': 1,
  'round(sum(increase(rest_client_requests_total{method="PATCH",code="200"}[5m])))': 2,
};

/** What the queries do not ask for. */
const COUNTED: Readonly<Record<string, number>> = {
  'reloader_reconcile_duration_seconds_count{result="success"}': 1,
  'reloader_action_latency_seconds_count{workload_kind="Deployment"}': 2,
  'reloader_workloads_scanned_total{kind="Deployment"}': 2,
};

it('of one change that reloads two workloads the usual queries are right, over two watchers and two workers; latency holds the wait', async () => {
  const apps = [...reroll.watchers, ...reroll.workers];
  const scrape = async (): Promise<Series[]> => await Promise.all(apps.map(series));
  const [before, sum] = [await scrape(), await summed()];
  await space.setData('ConfigMap/cm', { v: '3' });
  for (const ref of ['Deployment/api', 'Deployment/web']) await inStep(space, ref, ['ConfigMap/cm']);
  await eventually(async () => {
    expect(await grown(Object.keys(COUNTED), sum)).toEqual(COUNTED);
    return true;
  });
  const latency = 'reloader_action_latency_seconds_sum{workload_kind="Deployment"}';
  expect((await grown([latency], sum))[latency]).toBeGreaterThanOrEqual(2 * QUIET_SECONDS);
  await eventually(async () => {
    const scrapes = (await scrape()).map((after, index) => ({
      pod: `pod-${index}`,
      before: before[index] ?? new Map<string, number>(),
      after,
    }));
    expect(await promqlDifference(scrapes, USUAL_QUERIES)).toBeUndefined();
    return true;
  });
  const where = `in namespace '${space.name}'`;
  const words = `Changes detected in 'cm' of type 'CONFIGMAP' ${where}; updated 'api' of type 'Deployment' ${where}`;
  expect(reroll.logs()).toContain(`level=info msg="${words}"`);
});

it('what is refused, tried again, dropped or skipped is counted as that', async () => {
  await space.apply(
    configMap('refused', { v: '1' }),
    configMap('unused', { v: '1' }),
    deployment('refused', auto(), usingEnvFrom('refused')),
    deployment('silent', usingEnvFrom('refused')),
  );
  await inStep(space, 'Deployment/refused', ['ConfigMap/refused']);
  await settled(reroll, space);
  const refusal = await refuseUpdates(space, { workloads: ['refused'], reason: 'Forbidden' });
  const before = await summed();
  await space.setData('ConfigMap/refused', { v: '2' });
  await reroll.queues.enqueueReloads([{ workload: keyIn(space, 'Deployment/api'), since: Date.now() }]);
  // Who uses it cannot be read, however often it is tried.
  await reroll.redis.set(reroll.catalog.keys.users + keyIn(space, 'ConfigMap/unused'), 'no set');
  await space.setData('ConfigMap/unused', { v: '2' });
  const moved = [
    'reloader_reload_executed_total{success="false"}',
    `reloader_reload_executed_total_by_namespace{success="false",namespace="${space.name}"}`,
    'reloader_action_total{workload_kind="Deployment",result="error"}',
    'reloader_errors_total{type="handler_error"}',
    'reloader_retries_total',
    'reloader_reconcile_total{result="error"}',
    'reloader_events_processed_total{event_type="unknown",resource_type="configmaps",result="dropped"}',
    'reloader_skipped_total{reason="ignored_or_not_selected"}',
    'reloader_skipped_total{reason="strategy_not_updated"}',
    'reloader_workqueue_adds_total',
    'reloader_workqueue_latency_seconds_count',
  ];
  await eventually(async () => {
    const now = await summed();
    expect(moved.filter((name) => (now.get(name) ?? 0) <= (before.get(name) ?? 0))).toEqual([]);
    const refusals = [...now].filter(([name]) =>
      /^rest_client_requests_total\{(?=.*code="403").*method="PATCH"/u.test(name),
    );
    expect(refusals).not.toEqual([]);
    return true;
  });
  const named = `'refused' of type 'CONFIGMAP' in namespace '${space.name}'`;
  expect(reroll.logs()).toContain(`level=debug msg="No changes detected in ${named}"`);
  expect(reroll.logs()).toMatch(/level=error msg="Error syncing events: .*attempt=1/u);
  expect(reroll.logs()).toMatch(/level=error msg="Dropping key out of the queue: .*attempt=2/u);
  await refusal.end();
});
