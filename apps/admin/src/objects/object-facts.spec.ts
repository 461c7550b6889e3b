import { Catalog } from '@reroll/redis/catalog/catalog';
import type { ExplainSettings } from '@reroll/core/explain/facts';
import { Processes } from '@reroll/redis/processes/processes';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { NO_TRIGGERS } from '@reroll/core/state/settings';
import { RealRedis } from '@reroll/redis/testing/real-redis';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { ObjectFacts } from './object-facts.ts';

let redis: RealRedis;

beforeAll(async () => {
  redis = await RealRedis.start();
});
afterAll(() => redis.stop());
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

it('the settings are not known any more when the entry of the last worker is gone', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const keys = redis.freshKeys();
  const processes = new Processes(redis.client, keys.processes);
  const facts = new ObjectFacts(redis.client, new Catalog(redis.client, keys));
  await processes.write('w', { app: 'worker', name: 'w', version: '1', startedAt: 1, settings: SETTINGS });
  expect(await facts.settings()).toEqual(SETTINGS);
  await processes.remove('w');
  vi.advanceTimersByTime(2_000);
  expect(await facts.settings()).toBeUndefined();
});
