import { Registry } from 'prom-client';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { changed, reloaded, rollout } from '@reroll/core/testing/history';
import { stateOf } from '@reroll/core/history/states';
import type { CatalogKeys } from '@reroll/redis/catalog/keys';
import { History, HISTORY_STREAMS, streamKey } from '@reroll/redis/history/history';
import { HistoryReader } from '@reroll/redis/history/history-reader';
import { RolloutWriter } from '@reroll/redis/history/rollout-writer';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { adminMetrics } from '@reroll/shared/platform/metrics/admin';
import { ReadModel } from './read-model.ts';

const LIMITS = { maxEntries: 100, maxAge: 86_400_000, maxBytes: 33_554_432 };
const SOON = { timeout: 15_000 };

const redis = useRealRedis();
let keys: CatalogKeys;
let history: History;

beforeEach(() => {
  keys = redis.freshKeys();
  history = new History(redis.client, keys, LIMITS);
});

/** Of each: a change, and of every change as many outcomes, all of one workload, and a rollout. */
async function write(namespace: string, count: number, outcomes = 1): Promise<void> {
  const workload = `Deployment/${namespace}/web` as const;
  const rollouts = new RolloutWriter(redis.client, keys, LIMITS);
  for (let since = 1; since <= count; since += 1) {
    const woken = [{ workload, reason: 'AutoReload', detail: '' } as const];
    await history.addChange(changed(since, { source: `ConfigMap/${namespace}/cm`, woken }));
    for (let n = 0; n < outcomes; n += 1) await history.addOutcome(reloaded(since, { workload }));
    await rollouts.write('1', { put: [], removed: [], ended: [rollout(since, { workload })] });
    await history.addAudit({
      at: since,
      actor: namespace,
      action: 'reload',
      target: workload,
      reason: '',
      result: 'done',
      requestId: 'r',
    });
  }
}

/** `follow` begins to follow the streams; until then the model has what it read first. */
async function loaded(): Promise<{ model: ReadModel; follow: () => void }> {
  const end = new AbortController();
  const reader = new HistoryReader({ redis: redis.client, waiting: redis.connect(), keys });
  const metrics = adminMetrics(new Registry());
  const hashes = { agree: () => Promise.resolve() };
  const model = new ReadModel({ reader, hashes, metrics, log: silentLogger, signal: end.signal });
  await model.begin();
  return {
    model,
    follow: () => {
      const following = model.follow();
      onTestFinished(async () => {
        end.abort();
        await following;
      });
    },
  };
}

function idsIn({ contents }: ReadModel): string[][] {
  return HISTORY_STREAMS.map((stream) => contents.rows(stream).map(({ id }) => id));
}

async function idsInRedis(): Promise<string[][]> {
  return await Promise.all(
    HISTORY_STREAMS.map(async (stream) =>
      (await redis.client.xrange(streamKey(keys, stream), '-', '+')).map(([id]) => id),
    ),
  );
}

it('has in memory what Redis has, also if a namespace displaces its own entries', async () => {
  await write('quiet', 5);
  await write('noisy', 50);
  const { model, follow } = await loaded();
  follow();
  const { contents } = model;
  await write('noisy', 200);
  await write('calm', 5);
  await expect.poll(() => idsIn(model), SOON).toEqual(await idsInRedis());
  expect(model.contents).toBe(contents);
  expect(idsIn((await loaded()).model)).toEqual(await idsInRedis());
});

it('reads everything again if it missed what was dropped', async () => {
  await write('quiet', 1);
  await write('noisy', 80);
  await write('quiet', 1);
  const { model, follow } = await loaded();
  const { contents } = model;
  await write('noisy', 300);
  follow();
  await expect.poll(() => idsIn(model), SOON).toEqual(await idsInRedis());
  expect(model.contents).not.toBe(contents);
});

it('calls changes forgotten whose outcomes were dropped, in that namespace alone', async () => {
  await write('quiet', 2);
  await write('noisy', 60, 3);
  const { join } = (await loaded()).model.contents;
  const states = join.changes.map(({ namespace, pairs: [pair] }) => [namespace, pair && stateOf(pair)]);
  expect([states[1], states[2], states.at(-1)]).toEqual([
    ['quiet', 'rolledOut'],
    ['noisy', 'forgotten'],
    ['noisy', 'rolledOut'],
  ]);
  expect(join.outcomesFrom('quiet')).toBeLessThan(join.outcomesFrom('noisy'));
});
