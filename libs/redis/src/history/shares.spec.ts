import { beforeEach, describe, expect, it } from 'vitest';
import type { ChangeEntry, OutcomeEntry, RolloutEntry } from '@reroll/core/history/entries';
import { changed, reloaded, rollout } from '@reroll/core/testing/history';
import { useRealRedis } from '../testing/real-redis.ts';
import type { CatalogKeys } from '../catalog/keys.ts';
import { History, STREAM_START } from './history.ts';
import { HistoryReader, NO_POSITIONS } from './history-reader.ts';
import { RolloutWriter } from './rollout-writer.ts';

const MOST = 1_000;
const LIMITS = { maxEntries: MOST, maxAge: 86_400_000, maxBytes: 33_554_432 };
const STREAMS = ['changes', 'outcomes', 'rollouts'] as const;
type Stream = (typeof STREAMS)[number];

const redis = useRealRedis();
let keys: CatalogKeys;

beforeEach(() => {
  keys = redis.freshKeys();
});

function changeIn(namespace: string, since: number, detail = 'auto is true'): ChangeEntry {
  const woken = [{ workload: `Deployment/${namespace}/web`, reason: 'AutoReload', detail } as const];
  return changed(since, { source: `ConfigMap/${namespace}/cm`, woken });
}

function outcomeIn(namespace: string, since: number): OutcomeEntry {
  return reloaded(since, { workload: `Deployment/${namespace}/web` });
}

function rolloutIn(namespace: string, since: number): RolloutEntry {
  return rollout(2, { workload: `Deployment/${namespace}/web`, since });
}

async function addOne(stream: Stream, namespace: string, since: number, limits = LIMITS): Promise<void> {
  const history = new History(redis.client, keys, limits);
  if (stream === 'changes') await history.addChange(changeIn(namespace, since));
  else if (stream === 'outcomes') await history.addOutcome(outcomeIn(namespace, since));
  else {
    const ended = [rolloutIn(namespace, since)];
    await new RolloutWriter(redis.client, keys, limits).write('1', { put: [], removed: [], ended });
  }
}

/** Numbered from `from` on. */
async function addMany(stream: Stream, namespace: string, from: number, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1_000)
    await Promise.all(
      Array.from({ length: Math.min(1_000, count - done) }, (_, n) =>
        addOne(stream, namespace, from + done + n),
      ),
    );
}

/** The numbers of the entries that there are of a namespace, oldest first. */
async function numbersOf(stream: Stream, namespace: string): Promise<number[]> {
  const page = { after: STREAM_START, count: 100_000 };
  const all = await new History(redis.client, keys, LIMITS).page(stream, page);
  return all.flatMap(({ entry }) => {
    const key = 'workload' in entry ? entry.workload : entry.source;
    return key?.split('/')[1] === namespace ? [entry.since] : [];
  });
}

function range(from: number, end: number): number[] {
  return Array.from({ length: end - from }, (_, n) => from + n);
}

describe.each(STREAMS)('the stream of %s', (stream) => {
  it('keeps what quiet namespaces have, whatever a noisy one writes', { timeout: 120_000 }, async () => {
    await addMany(stream, 'quiet', 0, 20);
    await addMany(stream, 'noisy', 0, 10_000);
    await addMany(stream, 'calm', 0, 10);
    await addMany(stream, 'noisy', 10_000, 500);
    expect(await numbersOf(stream, 'quiet')).toEqual(range(0, 20));
    expect(await numbersOf(stream, 'calm')).toEqual(range(0, 10));
    expect(await numbersOf(stream, 'noisy')).toEqual(range(10_500 - (MOST - 30), 10_500));
  });
});

describe('a full stream', () => {
  it('is all for a namespace that is alone', async () => {
    await addMany('changes', 'shop', 0, 3 * MOST);
    expect(await numbersOf('changes', 'shop')).toEqual(range(2 * MOST, 3 * MOST));
  });

  it('is shared evenly by those who write much, and by whoever begins later', async () => {
    for (const name of ['a', 'b', 'c']) await addMany('changes', name, 0, 2 * MOST);
    await addMany('changes', 'quiet', 0, 10);
    const counts = await Promise.all(
      ['a', 'b', 'c', 'quiet'].map(async (name) => (await numbersOf('changes', name)).length),
    );
    expect(counts).toEqual([330, 330, 330, 10]);
  });

  it(
    'keeps what quiet namespaces have also if its bytes are what fills it',
    { timeout: 120_000 },
    async () => {
      const limits = { maxEntries: 100_000, maxAge: 86_400_000, maxBytes: 2_097_152 };
      const history = new History(redis.client, keys, limits);
      const large = (namespace: string, n: number): ChangeEntry =>
        changeIn(namespace, n, `${n} ${'x'.repeat(190)}`);
      // Each of them keeps the bytes of a node of the stream, whose other entries are dropped.
      for (let n = 0; n < 100; n += 1) {
        await addOne('changes', 'quiet', n, limits);
        const numbers = range(n * 200, (n + 1) * 200);
        await Promise.all(numbers.map((each) => history.addChange(large('noisy', each))));
      }
      expect(await numbersOf('changes', 'quiet')).toEqual(range(0, 100));
      expect((await numbersOf('changes', 'noisy')).at(-1)).toBe(19_999);
      const used = await redis.client.memory('USAGE', keys.changes, 'SAMPLES', 0);
      expect(used).toBeGreaterThan(0.8 * (limits.maxBytes / 2));
      expect(used).toBeLessThan(limits.maxBytes / 2 + 16 * 4_096);
    },
  );

  it('keeps what quiet namespaces have also if few entries fill its bytes', async () => {
    const limits = { maxEntries: 100_000, maxAge: 86_400_000, maxBytes: 2_097_152 };
    const history = new History(redis.client, keys, limits);
    const woken = range(0, 50).map((n) => ({
      workload: `Deployment/noisy/web-${n}` as const,
      reason: 'AutoReload' as const,
      detail: `${n % 7} ${'x'.repeat(190)}`,
    }));
    for (const n of range(0, 20)) await addOne('changes', 'quiet', n, limits);
    for (const n of range(0, 2_000))
      await history.addChange(changed(n, { source: 'ConfigMap/noisy/cm', woken, leftAlone: woken }));
    expect(await numbersOf('changes', 'quiet')).toEqual(range(0, 20));
    const noisy = await numbersOf('changes', 'noisy');
    expect(noisy).toEqual(range(2_000 - noisy.length, 2_000));
    expect(noisy.length).toBeGreaterThan(150);
  });

  it('drops what an earlier version wrote first, the oldest first', async () => {
    for (const n of range(0, MOST))
      await redis.client.xadd(keys.changes, '*', 'entry', JSON.stringify(changeIn('old', n)));
    await addMany('changes', 'shop', 0, 10);
    expect(await numbersOf('changes', 'old')).toEqual(range(10, MOST));
    expect(await numbersOf('changes', 'shop')).toEqual(range(0, 10));
  });

  it('goes on after its entries were dropped by another way, or after an earlier version wrote again', async () => {
    await addMany('changes', 'shop', 0, MOST);
    await redis.client.xtrim(keys.changes, 'MAXLEN', 0);
    for (const n of range(0, MOST))
      await redis.client.xadd(keys.changes, '*', 'entry', JSON.stringify(changeIn('old', n)));
    await addMany('changes', 'shop', MOST, 2 * MOST);
    expect((await numbersOf('changes', 'shop')).at(-1)).toBe(3 * MOST - 1);
    expect(await new History(redis.client, keys, LIMITS).count('changes')).toBeLessThanOrEqual(MOST);
  });

  it('tells those who follow it what was dropped, and whose it was', async () => {
    const small = { ...LIMITS, maxEntries: 3 };
    for (const n of range(0, 2)) await addOne('changes', 'shop', n, small);
    await addOne('changes', 'bank', 2, small);
    await addOne('changes', 'bank', 3, small);
    const reader = new HistoryReader({ redis: redis.client, waiting: redis.client, keys });
    const { entries, dropped } = await reader.page('changes', { positions: NO_POSITIONS, count: 10 });
    expect(entries.map(({ entry }) => entry)).toMatchObject([{ since: 1 }, { since: 2 }, { since: 3 }]);
    const id = expect.stringMatching(/^\d+-\d+$/u) as string;
    expect(dropped).toEqual([{ stream: 'changes', id, share: 'shop' }]);
  });
});

describe('trimming', () => {
  it('forgets the ids of entries that are gone, and the namespaces that have none', async () => {
    await addMany('outcomes', 'gone', 0, 10);
    const history = new History(redis.client, keys, LIMITS);
    const [last] = await history.latest('outcomes', 1);
    await expect
      .poll(async () => Number((await redis.client.time())[0]))
      .toBeGreaterThan(Number(last?.id.split('-')[0]) / 1_000);
    await addMany('outcomes', 'shop', 0, 5);
    const [first] = await history.latest('outcomes', 5).then((all) => all.reverse());
    await history.trim(Number(first?.id.split('-')[0]) + LIMITS.maxAge);
    const shares = `${keys.shares}outcomes`;
    expect(await redis.client.zrangebyscore(shares, '-inf', '+inf', 'WITHSCORES')).toEqual([
      '#',
      '-15',
      'shop',
      '5',
    ]);
    expect(await redis.client.keys(`${keys.shares}*`)).toHaveLength(2);
    await redis.client.xtrim(keys.outcomes, 'MAXLEN', 0);
    await history.trim(Date.now());
    expect(await redis.client.keys(`${keys.shares}*`)).toEqual([shares]);
  });
});
