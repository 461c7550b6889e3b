import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { adminMetrics } from '@reroll/shared/platform/metrics/admin';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { restClientMetrics } from '@reroll/shared/platform/metrics/rest-client';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { workerMetrics } from '@reroll/shared/platform/metrics/worker';
import { run } from '../../cluster/src/run.ts';
import { CHART } from '../values/values-comments.ts';
import { manifestsWith } from '../render.ts';
import { ensurePromtool } from './promtool.ts';

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(readFileSync(join(CHART, 'dashboards/reroll.json'), 'utf8')) as {
  panels: Panel[];
  templating: { list: { name: string; regex?: string; includeAll?: boolean; multi?: boolean }[] };
};
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, expr] as const),
);

let promtool: string;
let folder: string;
beforeAll(async () => {
  promtool = await ensurePromtool();
  folder = mkdtempSync(join(tmpdir(), 'reroll-dashboard-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Names of metrics that the processes serve, with those that Prometheus derives from histograms. */
function served(): ReadonlySet<string> {
  const registries = [createRegistry(), createRegistry(), createRegistry()];
  const [watcher, worker, admin] = registries;
  if (watcher) watcherMetrics(watcher);
  if (worker) {
    restClientMetrics(worker);
    workerMetrics(worker);
  }
  if (admin) adminMetrics(admin);
  return new Set(
    registries.flatMap((each) => each.getMetricsAsArray().flatMap(({ name }) => [name, `${name}_bucket`])),
  );
}

it.each(queries)('%s asks for metrics that there are: %s', (_, expr) => {
  const names = expr.match(/\b[a-z_]+(?=\{)/gu) ?? [];
  expect(names.length).toBeGreaterThan(0);
  const there = served();
  expect(names.filter((name) => !there.has(name))).toEqual([]);
});

it('has queries that Prometheus can read', async () => {
  const rules = queries.map(([, expr], index) => ({
    record: `panel:${index}`,
    expr: filledIn(expr, 'reroll'),
  }));
  const file = join(folder, 'rules.yaml');
  writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }));
  const { code, tail } = await run(promtool, ['check', 'rules', '--lint=none', file]);
  expect(code, tail).toBe(0);
});

/** As Grafana fills in the variables if one namespace and this release are chosen. */
function filledIn(expr: string, release: string): string {
  const values = { $__rate_interval: '5m', $namespace: 'reroll', '${release}': release };
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), expr);
}

/** Series of all metrics of the dashboard, of one release. */
function seriesOf(release: string): { series: string; values: string }[] {
  const labels = `namespace="reroll",queue="reloads",result="success",le="+Inf"`;
  const pod = `pod="${release}-worker-5d8f7c9b6-x2x4z"`;
  return [...served()].map((name) => ({ series: `${name}{${labels},${pod}}`, values: '0+60x30' }));
}

it('shows the release that is chosen, and no other of the namespace', async () => {
  // Another release has a name that ends like this one's.
  const promql = queries.flatMap(([, expr]) => [
    { expr: `count(${filledIn(expr, 'reroll')}) >= bool 1`, exp_samples: [{ labels: '{}', value: 1 }] },
    { expr: `count(${filledIn(expr, 'green-reroll')})`, exp_samples: [] },
    { expr: `count(${filledIn(expr, 'blue')})`, exp_samples: [] },
  ]);
  const promql_expr_test = promql.map((each) => ({ ...each, eval_time: '20m' }));
  const tests = [{ interval: '1m', input_series: seriesOf('reroll'), promql_expr_test }];
  const file = join(folder, 'tests.yaml');
  writeFileSync(file, stringify({ rule_files: [], evaluation_interval: '1m', tests }));
  const { code, tail } = await run(promtool, ['test', 'rules', file]);
  expect(code, tail).toBe(0);
});

it('has one namespace chosen, since releases of several namespaces may have the same name', () => {
  const { list } = dashboard.templating;
  expect(list.map(({ name }) => name)).toEqual(['datasource', 'namespace', 'release']);
  expect(list.filter(({ includeAll, multi }) => includeAll === true || multi === true)).toEqual([]);
});

it.each([
  ['reroll-watcher-7c9d8b6f5-x2x4z', 'reroll'],
  ['blue-watcher-reroll-standalone-7c9d8b6f5-x2x4z', 'blue-watcher-reroll'],
  ['reroll-worker-7c9d8b6f5-x2x4z', undefined],
  // Kubernetes cuts what a name of a pod is generated from to 58 characters.
  [`${'r'.repeat(40)}-watcher-7c9d8b6f5x2x4z`, 'r'.repeat(40)],
])('finds in the pod %s the release %s', (pod, release) => {
  const { regex = '' } = dashboard.templating.list.find(({ name }) => name === 'release') ?? {};
  expect(new RegExp(regex.slice(1, -1), 'u').exec(pod)?.[1]).toBe(release);
});

it('has panels with ids of their own that do not lie on each other', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

it('comes as a ConfigMap that Grafana finds by its label, and is the same text', async () => {
  const manifests = await manifestsWith({ grafanaDashboard: { enabled: true } });
  const manifest = manifests.find(({ metadata }) => metadata.labels?.['grafana_dashboard'] === '1');
  const { data } = manifest as unknown as { data: Record<string, string> };
  expect(JSON.parse(data['reroll.json'] ?? '')).toEqual(dashboard);
});
