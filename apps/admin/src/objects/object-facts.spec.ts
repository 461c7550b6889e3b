import { Catalog } from '@reroll/redis/catalog/catalog';
import type { ExplainSettings } from '@reroll/core/explain/facts';
import { Processes } from '@reroll/redis/processes/processes';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { NO_TRIGGERS } from '@reroll/core/state/settings';
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
