import { beforeEach, describe, expect, it } from 'vitest';
import { millisecondsOf } from '@reroll/core/history/stream-id';
import { changed, reloaded } from '@reroll/core/testing/history';
import { useRealRedis } from '../testing/real-redis.ts';
import { HistoryReader, NO_POSITIONS } from './history-reader.ts';
import { History } from './history.ts';
import type { CatalogKeys } from '../catalog/keys.ts';

const FOREVER = 30_000;

const redis = useRealRedis();
let keys: CatalogKeys;
let history: History;
let reader: HistoryReader;

beforeEach(() => {
  keys = redis.freshKeys();
  history = new History(redis.client, keys, { maxEntries: 1_000, maxAge: 86_400_000, maxBytes: 33_554_432 });
  reader = new HistoryReader({ redis: redis.client, waiting: redis.connect(), keys });
});

describe('the reader of the history', () => {
  it('gives a stream in pages', async () => {
    for (const since of [1, 2, 3]) await history.addChange(changed(since));
    const first = await reader.page('changes', { positions: NO_POSITIONS, count: 2 });
    const second = await reader.page('changes', { positions: first.positions, count: 2 });
    const third = await reader.page('changes', { positions: second.positions, count: 2 });
    const seen = [first, second, third].map(({ entries }) =>
      entries.map(({ entry }) => ('since' in entry ? entry.since : 0)),
    );
    expect(seen).toEqual([[1, 2], [3], []]);
  });

  it('gives what comes to any of the streams while it waits', async () => {
    const waiting = reader.next(NO_POSITIONS, { count: 10, milliseconds: FOREVER });
    await history.addOutcome(reloaded(1));
    const { entries, positions } = await waiting;
    expect(entries).toMatchObject([{ stream: 'outcomes', entry: { since: 1 } }]);
    const after = reader.next(positions, { count: 10, milliseconds: FOREVER });
    await history.addChange(changed(2));
    expect((await after).entries).toMatchObject([{ stream: 'changes', entry: { since: 2 } }]);
  });

  it('gives nothing if nothing comes', async () => {
    const { entries, positions } = await reader.next(NO_POSITIONS, { count: 10, milliseconds: 1 });
    expect([entries, positions]).toEqual([[], NO_POSITIONS]);
  });

  it.each([
    ['no JSON', '{'],
    ['a key that is no key', JSON.stringify({ ...changed(1), source: '../../pods' })],
    ['a time that is none', JSON.stringify({ ...changed(1), at: 'now' })],
    ['a text without an end', JSON.stringify({ ...changed(1), hash: 'x'.repeat(5_000) })],
  ])('leaves out, and goes past, an entry that is %s', async (_, text) => {
    await redis.client.xadd(keys.changes, '*', 'entry', text);
    const bad = await reader.page('changes', { positions: NO_POSITIONS, count: 10 });
    expect([bad.entries, bad.unusable]).toEqual([[], 1]);
    await history.addChange(changed(2));
    expect((await reader.page('changes', { positions: bad.positions, count: 10 })).entries).toHaveLength(1);
  });

  it('reads entries of before an upgrade, which lack what was added since', async () => {
    const { cause: _cause, from: _from, ...old } = changed(1);
    await redis.client.xadd(keys.changes, '*', 'entry', JSON.stringify(old));
    const { entries } = await reader.page('changes', { positions: NO_POSITIONS, count: 10 });
    expect(entries).toMatchObject([{ entry: { cause: 'updated', from: null, woken: changed(1).woken } }]);
  });

  it('reads outcomes of before an upgrade, under their long names', async () => {
    await redis.client.xadd(keys.outcomes, '*', 'entry', JSON.stringify(reloaded(1)));
    await history.addOutcome(reloaded(2));
    const { entries } = await reader.page('outcomes', { positions: NO_POSITIONS, count: 10 });
    expect(entries.map(({ entry }) => entry)).toEqual([reloaded(1), reloaded(2)]);
  });
});

describe('the bounds of a stream', () => {
  async function readAll(): Promise<string> {
    return (await reader.page('changes', { positions: NO_POSITIONS, count: 100 })).positions.changes;
  }

  it('say that it goes on, also when it has nothing yet', async () => {
    expect(await reader.bounds('changes', '0-0')).toMatchObject({ continues: true, isTrimmed: false });
    await history.addChange(changed(1));
    const position = await readAll();
    await history.addChange(changed(2));
    expect(await reader.bounds('changes', position)).toMatchObject({ continues: true, isTrimmed: false });
  });

  it('say that it was trimmed, and from where on it is there', async () => {
    for (const since of [1, 2, 3]) await history.addChange(changed(since));
    const position = await readAll();
    await redis.client.xtrim(keys.changes, 'MINID', position);
    expect(await reader.bounds('changes', position)).toEqual({
      oldest: position,
      isTrimmed: true,
      continues: true,
      length: 1,
    });
  });

  it('say that it goes on when all of it is gone by its age', async () => {
    await history.addChange(changed(1));
    const position = await readAll();
    await redis.client.xtrim(keys.changes, 'MAXLEN', 0);
    expect(await reader.bounds('changes', position)).toMatchObject({ oldest: undefined, continues: true });
  });

  it('say that it is another one after Redis was emptied', async () => {
    await history.addChange(changed(1));
    const position = await readAll();
    await redis.client.del(keys.changes);
    expect((await reader.bounds('changes', position)).continues).toBe(false);
    await history.addChange(changed(2));
    expect((await reader.bounds('changes', position)).continues).toBe(false);
  });

  it('say that it is another one after Redis was set back', async () => {
    await history.addChange(changed(1));
    const backup = await redis.client.dumpBuffer(keys.changes);
    await history.addChange(changed(2));
    const position = await readAll();
    await redis.client.del(keys.changes);
    await redis.client.restore(keys.changes, 0, backup ?? '');
    expect((await reader.bounds('changes', position)).continues).toBe(false);
    // A clock that was set back meanwhile would give the same id again.
    const now = async (): Promise<number> => Number((await redis.client.time())[0]) * 1_000;
    await expect.poll(now, { timeout: 10_000 }).toBeGreaterThan(millisecondsOf(position));
    await history.addChange(changed(3));
    expect((await reader.bounds('changes', position)).continues).toBe(false);
  });
});
