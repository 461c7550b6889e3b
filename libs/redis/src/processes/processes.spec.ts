import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { NO_TRIGGERS } from '@reroll/core/state/settings';
import { useRealRedis } from '../testing/real-redis.ts';
import type { ExplainSettings } from '@reroll/core/explain/facts';
import { Processes, settingsInForce, type ProcessEntry } from './processes.ts';

const redis = useRealRedis();
let processes: Processes;
let key: string;

beforeEach(() => {
  const keys = redis.freshKeys();
  key = keys.processes;
  processes = new Processes(redis.client, keys);
});

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
  cronJobStrategy: 'patch',
  holds: { window: 'always', approval: 'none', limit: '10/10m' },
};

function worker(startedAt: number): Omit<ProcessEntry, 'seenAt'> {
  return { app: 'worker', name: `worker-${startedAt}`, version: '1', startedAt };
}

/** As if it had been heard of so long ago (ms). */
async function heardOf(id: string, entry: Omit<ProcessEntry, 'seenAt'>, ago: number): Promise<void> {
  await redis.client.hset(key, id, JSON.stringify({ ...entry, seenAt: Date.now() - ago }));
}

describe('the processes', () => {
  it('are those that wrote an entry, the watchers first, those that are not heard of any more last', async () => {
    await heardOf('gone', worker(1), 31_000);
    await processes.write('w2', worker(3));
    await processes.write('w1', worker(2));
    await processes.write('leader', { ...worker(9), app: 'watcher' });
    const found = (await processes.all()).map(({ id, isLive }) => ({ id, isLive }));
    expect(found).toEqual([
      { id: 'leader', isLive: true },
      { id: 'w1', isLive: true },
      { id: 'w2', isLive: true },
      { id: 'gone', isLive: false },
    ]);
  });

  it('are removed at their own word, and ten minutes after they were last heard of', async () => {
    await heardOf('dead', worker(1), 600_001);
    await heardOf('quiet', worker(2), 590_000);
    await processes.write('ended', worker(3));
    await processes.remove('ended');
    await processes.removeDead();
    expect((await processes.all()).map(({ id }) => id)).toEqual(['quiet']);
  });
});

it('one of a newer version, whose settings cannot be read, is a process without settings and stays', async () => {
  const ignoredSourceKinds = ['NewKind'];
  const settings = { ...SETTINGS, decision: { ...SETTINGS.decision, ignoredSourceKinds } };
  await processes.write('newer', { ...worker(1), settings: settings as unknown as ExplainSettings });
  await processes.removeDead();
  expect(await processes.all()).toMatchObject([{ id: 'newer', app: 'worker', settings: undefined }]);
});

it.each([
  '',
  'no JSON',
  'null',
  '[]',
  '{"app":"worker"}',
  '{"app":"thief","name":"x","version":"1","startedAt":1,"seenAt":1}',
])('%j is no process, and goes with the dead', async (text) => {
  await redis.client.hset(key, 'forged', text);
  await processes.write('w', worker(1));
  expect((await processes.all()).map(({ id }) => id)).toEqual(['w']);
  await processes.removeDead();
  expect(await redis.client.hkeys(key)).toEqual(['w']);
});

describe('the settings in force', () => {
  it('are those of the worker that began last of those alive', async () => {
    await processes.write('old', { ...worker(1), settings: SETTINGS });
    await processes.write('new', { ...worker(2), settings: { ...SETTINGS, dryRun: true } });
    await heardOf('gone', { ...worker(3), settings: SETTINGS }, 31_000);
    expect(settingsInForce(await processes.all())).toEqual({ ...SETTINGS, dryRun: true });
  });

  it('are those of the worker that began last, if none is alive, and of none after ten minutes', async () => {
    await processes.write('leader', { ...worker(9), app: 'watcher' });
    expect(settingsInForce(await processes.all())).toBeUndefined();
    await heardOf('older', { ...worker(1), settings: SETTINGS }, 31_000);
    await heardOf('newer', { ...worker(2), settings: { ...SETTINGS, dryRun: true } }, 500_000);
    expect(settingsInForce(await processes.all())).toEqual({ ...SETTINGS, dryRun: true });
    // Whether or not there is a leader that removes the entries.
    for (const id of ['older', 'newer']) await heardOf(id, { ...worker(2), settings: SETTINGS }, 601_000);
    expect(settingsInForce(await processes.all())).toBeUndefined();
  });
});

it('settings come back as they were written', async () => {
  const keys = { ...DEFAULT_ANNOTATION_KEYS, adopt: ['wave'] as const };
  const settings = {
    ...SETTINGS,
    decision: { ...SETTINGS.decision, keys },
    triggers: { ...NO_TRIGGERS, announced: true },
  };
  await processes.write('w', { ...worker(1), settings, concurrency: 10, reloadsPerMinute: 0 });
  expect((await processes.all())[0]).toMatchObject({ settings, concurrency: 10, reloadsPerMinute: 0 });
});
