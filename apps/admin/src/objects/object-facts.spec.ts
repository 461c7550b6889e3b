import { Catalog } from '@reroll/redis/catalog/catalog';
import type { ExplainSettings } from '@reroll/core/explain/facts';
import { Processes } from '@reroll/redis/processes/processes';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { NO_TRIGGERS } from '@reroll/core/state/settings';
import type { SourceKey } from '@reroll/core/model';
import { recordOf, sourceRow } from '@reroll/core/testing/rows';
import { workloadRow } from '@reroll/redis/catalog/testing/rows';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { afterEach, expect, it, vi } from 'vitest';
import { ObjectFacts } from './object-facts.ts';

const redis = useRealRedis();

afterEach(() => vi.useRealTimers());

const SETTINGS: ExplainSettings = {
  decision: {
    keys: DEFAULT_ANNOTATION_KEYS,
    autoReloadAll: false,
    ignoredWorkloadTypes: [],
    recreateFinishedJobs: false,
    ignoredSourceKinds: [],
  },
  triggers: NO_TRIGGERS,
  adoptStale: 'report',
  dryRun: false,
  notifyOnly: false,
};

it('the facts of sources hold nothing of what their users have of others', async () => {
  const catalog = new Catalog(redis.client, redis.freshKeys());
  const names = ['ConfigMap/a', 'ConfigMap/b', 'ConfigMap/c'];
  const all = { uses: names, dependencies: names, stale: names, marks: ['STAKATER_A_CONFIGMAP'] };
  const row = workloadRow({ ...all, baselines: { 'ConfigMap/a': '1', 'ConfigMap/c': '1' } });
  const index = ['ConfigMap/shop/a', 'ConfigMap/shop/b'] as const;
  await catalog.publish({
    writer: { term: '1', sequence: 0 },
    sources: [],
    workloads: [['Deployment/shop/web', { row, index }]],
  });
  const found = await new ObjectFacts(redis.client, catalog).sourceFacts(index);
  const some = ['ConfigMap/a', 'ConfigMap/b'];
  const about = { uses: some, dependencies: some, stale: some, marks: [], baselines: { 'ConfigMap/a': '1' } };
  for (const { users } of found) expect([...users]).toEqual([['Deployment/shop/web', { ...row, ...about }]]);
  expect(found).toHaveLength(2);
});

it('of the sources of a workload, only those that make it owed are owing, and each row is read once', async () => {
  const catalog = new Catalog(redis.client, redis.freshKeys());
  const dependencies = ['ConfigMap/a', 'ConfigMap/b', 'ConfigMap/c'];
  const keys = dependencies.map((name) => name.replace('/', '/shop/') as SourceKey);
  const [changed, corrected, inStep] = keys as [SourceKey, SourceKey, SourceKey];
  const record = recordOf({ a: 'old', b: 'old', c: 'now' });
  const row = workloadRow({ dependencies, templateRv: '10', record });
  const web = 'Deployment/shop/web';
  await catalog.publish({
    writer: { term: '1', sequence: 0 },
    sources: [
      [changed, sourceRow(11, 'now')],
      [corrected, sourceRow(9, 'now')],
      [inStep, sourceRow(11, 'now')],
    ],
    workloads: [[web, { row, index: keys }]],
  });
  const read = vi.spyOn(catalog, 'eachWorkloadOf');
  const facts = new ObjectFacts(redis.client, catalog);
  expect(await facts.owing(new Map(keys.map((key) => [key, [web]])))).toEqual(new Set([changed]));
  expect(await facts.owing(new Map([[corrected, [web]]]))).toEqual(new Set());
  expect(read.mock.calls).toEqual([[[web]], [[web]]]);
});

it('the settings are not known any more when the entry of the last worker is gone', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const keys = redis.freshKeys();
  const processes = new Processes(redis.client, keys);
  const facts = new ObjectFacts(redis.client, new Catalog(redis.client, keys));
  await processes.write('w', { app: 'worker', name: 'w', version: '1', startedAt: 1, settings: SETTINGS });
  expect(await facts.settings()).toEqual(SETTINGS);
  await processes.remove('w');
  vi.advanceTimersByTime(2_000);
  expect(await facts.settings()).toBeUndefined();
});
