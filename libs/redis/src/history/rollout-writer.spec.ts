import type { WorkloadKey } from '@reroll/core/model';
import { beforeEach, expect, it } from 'vitest';
import type { RolloutEntry } from '@reroll/core/history/entries';
import { useRealRedis } from '../testing/real-redis.ts';
import { History } from './history.ts';
import type { CatalogKeys } from '../catalog/keys.ts';
import { Rollouts } from './rollouts.ts';
import { RolloutWriter } from './rollout-writer.ts';

const WEB = 'Deployment/shop/web';
const LIMITS = { maxEntries: 100, maxAge: 1, maxBytes: 33_554_432 };
const API = 'Deployment/shop/api';

const redis = useRealRedis();
let keys: CatalogKeys;
let writer: RolloutWriter;

beforeEach(() => {
  keys = redis.freshKeys();
  writer = new RolloutWriter(redis.client, keys, LIMITS);
});

function entry(workload: WorkloadKey, state: RolloutEntry['state']): RolloutEntry {
  const counts = { updated: 1, ready: 0, desired: 2 };
  return { workload, generation: 2, state, code: 'Updating', ...counts, since: 1, at: 2, conditions: [] };
}

async function told(): Promise<RolloutEntry[]> {
  const history = new History(redis.client, keys, LIMITS);
  return (await history.latest('rollouts', 10)).map((each) => each.entry);
}

it('writes in one call what is under way, what is not any more, and what ended', async () => {
  const none = { put: [], removed: [], ended: [] };
  await writer.write('7', { ...none, put: [entry(WEB, 'progressing'), entry(API, 'stuck')] });
  expect((await writer.written()).underWay).toEqual(
    new Map([
      [WEB, entry(WEB, 'progressing')],
      [API, entry(API, 'stuck')],
    ]),
  );
  await writer.write('7', {
    put: [entry(API, 'progressing')],
    removed: [WEB],
    ended: [entry(WEB, 'complete')],
  });
  expect((await writer.written()).underWay).toEqual(new Map([[API, entry(API, 'progressing')]]));
  expect(await told()).toEqual([entry(WEB, 'complete')]);
});

it('writes when rollouts were complete, and since when that is known, until they begin again', async () => {
  const rollouts = new Rollouts(redis.client, keys.rollouts);
  const none = { put: [], removed: [], ended: [] };
  expect(await rollouts.known([WEB])).toEqual({ since: undefined, of: new Map() });
  await writer.write('7', {
    ...none,
    put: [entry(API, 'stuck')],
    completed: [[WEB, { completeAt: 9 }]],
    since: 5,
  });
  expect(await rollouts.known([WEB, API, 'Deployment/shop/other'])).toEqual({
    since: 5,
    of: new Map<WorkloadKey, object>([
      [WEB, { completeAt: 9 }],
      [API, entry(API, 'stuck')],
    ]),
  });
  const { completed, underWay } = await writer.written();
  expect([completed, [...underWay.keys()]]).toEqual([[WEB], [API]]);
  await writer.write('7', { ...none, completed: [[WEB, { completeAt: 9, unavailableSince: 10 }]] });
  expect((await rollouts.known([WEB])).of.get(WEB)).toEqual({ completeAt: 9, unavailableSince: 10 });
  await writer.write('7', { ...none, put: [entry(WEB, 'progressing')] });
  expect(await rollouts.known([WEB])).toEqual({ since: 5, of: new Map([[WEB, entry(WEB, 'progressing')]]) });
});

it('writes nothing once a newer leader has written', async () => {
  await redis.client.set(keys.writer, '10:1');
  const changes = { put: [entry(WEB, 'progressing')], removed: [], ended: [entry(API, 'stuck')] };
  expect(await writer.write('9', changes)).toBe(false);
  expect([(await writer.written()).underWay.size, await told()]).toEqual([0, []]);
  expect(await writer.write('10', changes)).toBe(true);
});

it('reads nothing that is no rollout under way', async () => {
  await redis.client.hset(keys.rollouts, {
    [WEB]: 'what',
    [API]: JSON.stringify(entry(API, 'complete')),
    'no key': JSON.stringify(entry(WEB, 'stuck')),
  });
  expect((await writer.written()).underWay.size).toBe(0);
});
