import { beforeEach, describe, expect, it } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import type { ChangeEntry, OutcomeEntry } from '@reroll/core/history/entries';
import { History, STREAM_START } from './history.ts';
import type { CatalogKeys } from '../catalog/keys.ts';

const DAY = 86_400_000;

const redis = useRealRedis();
let keys: CatalogKeys;
let history: History;

beforeEach(() => {
  keys = redis.freshKeys();
  history = new History(redis.client, keys, { maxEntries: 200, maxAge: DAY, maxBytes: 33_554_432 });
});

function change(since: number): ChangeEntry {
  return {
    source: 'ConfigMap/shop/settings',
    cause: 'updated',
    since,
    at: since + 5,
    from: null,
    hash: '1.A',
    woken: [{ workload: 'Deployment/shop/web', reason: 'AutoReload', detail: 'auto' }],
    leftAlone: [{ workload: 'Deployment/shop/old', reason: 'NotAnnotated', detail: 'nothing asks' }],
  };
}

function outcome(since: number): OutcomeEntry {
  return {
    workload: 'Deployment/shop/web',
    state: 'reloaded',
    reason: 'Reloaded',
    sources: { 'ConfigMap/settings': 'Roll' },
    rolled: ['ConfigMap/settings'],
    since,
    at: since + 9,
    attempt: 1,
    attempts: 5,
  };
}

async function addMany(count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => n);
  await Promise.all(numbers.flatMap((n) => [history.addChange(change(n)), history.addOutcome(outcome(n))]));
}

describe('the history', () => {
  it('is empty at first', async () => {
    expect(await history.changes(10)).toEqual([]);
    expect(await history.outcomes(10)).toEqual([]);
  });

  it('gives a change without the workloads of a kind that only a newer version knows', async () => {
    const unknown = {
      workload: 'Gadget/shop/web' as 'Deployment/shop/web',
      reason: 'NotAnnotated',
      detail: '',
    } as const;
    const { leftAlone } = change(1);
    await history.addChange({ ...change(1), leftAlone: [unknown, ...leftAlone] });
    expect(await history.changes(10)).toEqual([change(1)]);
  });

  it('gives entries as they were written, the newest first', async () => {
    await addMany(3);
    expect(await history.changes(10)).toEqual([change(2), change(1), change(0)]);
    expect(await history.outcomes(10)).toEqual([outcome(2), outcome(1), outcome(0)]);
  });

  it('gives no more than were asked for', async () => {
    await addMany(3);
    expect(await history.outcomes(2)).toEqual([outcome(2), outcome(1)]);
  });

  it('keeps the newest, as many as it may and at most a hundred more', async () => {
    await addMany(1_000);
    for (const entries of [await history.changes(2_000), await history.outcomes(2_000)]) {
      expect(entries.length).toBeGreaterThanOrEqual(200);
      expect(entries.length).toBeLessThanOrEqual(300);
      expect(entries[0]?.since).toBe(999);
    }
  });
});

describe('a stream of the history', () => {
  it('is read from a position on, the oldest first, in pages that neither repeat nor skip', async () => {
    await addMany(5);
    const first = await history.page('changes', { after: STREAM_START, count: 2 });
    await history.addChange(change(5));
    const second = await history.page('changes', { after: first.at(-1)?.id ?? '', count: 10 });
    expect([...first, ...second].map(({ entry }) => entry.since)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await history.page('changes', { after: second.at(-1)?.id ?? '', count: 10 })).toEqual([]);
  });

  it('tells the oldest position that is still there', async () => {
    expect(await history.oldest('changes')).toBeUndefined();
    await addMany(2);
    const [first] = await history.page('changes', { after: STREAM_START, count: 1 });
    expect(await history.oldest('changes')).toBe(first?.id);
  });

  it('of the audit holds what was written to it, and nothing of the others', async () => {
    const entry = {
      at: 1,
      actor: 'ann',
      action: 'reload',
      target: 'Deployment/shop/web',
      reason: 'a test',
      result: 'done',
      requestId: 'r',
    } as const;
    await history.addAudit(entry);
    expect((await history.latest('audit', 10)).map((each) => each.entry)).toEqual([entry]);
    expect(await history.changes(10)).toEqual([]);
  });
});

describe('trimming', () => {
  /** An entry that Redis dates by its id. */
  async function addAt(time: number, entry: ChangeEntry): Promise<void> {
    await redis.client.xadd(keys.changes, `${time}-0`, 'entry', JSON.stringify(entry));
  }

  it('drops what is too old, and that alone', async () => {
    const now = Date.now();
    await addAt(now - 2 * DAY, change(0));
    await addAt(now - DAY - 1, change(1));
    await addAt(now - DAY + 60_000, change(2));
    await addAt(now, change(3));
    await history.trim(now);
    expect(await history.changes(10)).toEqual([change(3), change(2)]);
  });

  it('trims changes and outcomes', async () => {
    await addMany(2);
    await history.trim(Date.now() + 2 * DAY);
    expect(await history.changes(10)).toEqual([]);
    expect(await history.outcomes(10)).toEqual([]);
  });

  it('of an age that is longer than time itself drops nothing', async () => {
    await addMany(1);
    const forever = { maxEntries: 10, maxAge: Number.MAX_SAFE_INTEGER, maxBytes: 33_554_432 };
    await new History(redis.client, keys, forever).trim(Date.now());
    expect(await history.changes(10)).toEqual([change(0)]);
  });
});
