import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { beforeEach, describe, expect, it } from 'vitest';
import { changed, reloaded, WEB } from '@reroll/core/testing/history';
import type { OutcomeEntry, JudgedWorkload } from '@reroll/core/history/entries';
import { sourceNameOf } from '@reroll/core/state/rows';
import { useRealRedis } from '../testing/real-redis.ts';
import { History } from './history.ts';
import type { CatalogKeys } from '../catalog/keys.ts';

const USERS = 4_000;
const NOW = 1_763_737_200_000;
/** Bytes. */
const MOST = 22 * 1024;
const MOST_IF_HELD = 42 * 1024;
const SOURCE = 'ConfigMap/shop/shared';
const NAME = sourceNameOf(SOURCE);

const AUDITED = {
  at: 1,
  actor: 'ann',
  action: 'reload',
  target: WEB,
  reason: '',
  result: 'done',
  requestId: 'r',
} as const;

const redis = useRealRedis();
let keys: CatalogKeys;
let history: History;

beforeEach(() => {
  keys = redis.freshKeys();
  history = new History(redis.client, keys, { maxEntries: 10_000, maxAge: 86_400_000, maxBytes: 33_554_432 });
});

function users(reason: JudgedWorkload['reason'], detail: string): JudgedWorkload[] {
  return Array.from({ length: USERS }, (_, index) => ({ workload: workload(index), reason, detail }));
}

function workload(index: number): WorkloadKey {
  return `Deployment/shop/web-${String(index).padStart(5, '0')}`;
}

/** Bytes of everything under the install's prefix. */
async function bytesInRedis(): Promise<number> {
  const names = await redis.client.keys(`${keys.prefix}*`);
  const sizes = await Promise.all(names.map((name) => redis.client.memory('USAGE', name, 'SAMPLES', 0)));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

/** Of a change of the source that enqueued these workloads; every hundredth failed. */
async function tellWide(at: number, name: SourceKey = SOURCE, of = workload): Promise<void> {
  await expectWide(at, name, of);
  await tellOutcomes(at, name, of);
}

async function expectWide(at: number, name: SourceKey = SOURCE, of = workload): Promise<void> {
  const since = NOW + at;
  const woken = Array.from({ length: USERS }, (_, index) => of(index)).sort();
  const entry = changed(since, {
    source: name,
    woken: woken.map((key) => ({ workload: key, reason: 'AutoReload', detail: 'auto is true' })),
    leftAlone: users('NotAnnotated', 'no annotation of the workload asks for it'),
  });
  await history.expectOutcomes(entry);
  await history.addChange(entry);
}

async function tellOutcomes(at: number, name: SourceKey = SOURCE, of = workload): Promise<void> {
  const since = NOW + at;
  const woken = Array.from({ length: USERS }, (_, index) => of(index)).sort();
  const source = sourceNameOf(name);
  const outcome = (key: WorkloadKey, index: number): OutcomeEntry =>
    index % 100 === 99
      ? reloaded(since, { workload: key, state: 'failed', reason: 'ApiUnavailable', sources: {}, rolled: [] })
      : reloaded(since, { workload: key, sources: { [source]: 'Roll' }, rolled: [source] });
  await Promise.all(woken.map((key, index) => history.addOutcome(outcome(key, index), name)));
}

describe(`a change of a source with ${USERS} users`, () => {
  it('that opted in to nothing costs at most 22 KB', async () => {
    await history.addChange(
      changed(1, { source: SOURCE, woken: [], leftAlone: users('NotAnnotated', 'nothing asks for it') }),
    );
    expect(await bytesInRedis()).toBeLessThan(MOST);
  });

  it('that are reloaded costs at most 22 KB, and tells the first and what came of the others', async () => {
    await tellWide(1);
    expect(await bytesInRedis()).toBeLessThan(MOST);
    const [entry] = await history.changes(1);
    expect(entry?.woken.map((each) => each.workload)).toEqual(
      Array.from({ length: 50 }, (_, index) => workload(index)),
    );
    expect(entry?.more).toEqual({ woken: USERS - 50, leftAlone: USERS - 50 });
    const told = await history.outcomes(USERS);
    const listed = new Set(entry?.woken.map((each) => each.workload));
    expect(told.filter(({ state }) => state === 'reloaded').map((each) => each.workload)).toEqual(
      [...listed].reverse(),
    );
    expect(await history.tally({ source: SOURCE, since: NOW + 1 })).toEqual({
      Reloaded: USERS - 50 - USERS / 100,
      ApiUnavailable: USERS / 100,
    });
  });

  it('costs no more if all names are as long as they may be', async () => {
    const long = 'x'.repeat(245);
    const name = `ConfigMap/shop/${long}` as const;
    await tellWide(1, name, (index) => `Deployment/shop/${String(index).padStart(5, '0')}-${long}`);
    expect(await bytesInRedis()).toBeLessThan(MOST);
    const [entry] = await history.changes(1);
    expect(entry?.woken.length).toBeGreaterThan(0);
    expect((entry?.woken.length ?? 0) + (entry?.more?.woken ?? 0)).toBe(USERS);
  });

  it('that are held before costs at most 42 KB, and tells the same of them in the end', async () => {
    const listed = Array.from({ length: 50 }, (_, index) => workload(index));
    await expectWide(1);
    const held = {
      state: 'unchanged',
      reason: 'AwaitsWave',
      detail: 'It waits for wave 1, 0 of 5 reloaded'.padEnd(150),
    } as const;
    for (let look = 0; look < 2; look += 1)
      for (const key of Array.from({ length: USERS }, (_, index) => workload(index)))
        await history.addOutcome(
          reloaded(NOW + 1, { ...held, workload: key, sources: { [NAME]: 'Roll' }, rolled: [] }),
          SOURCE,
        );
    expect(new Set((await history.outcomes(USERS)).map((each) => each.workload))).toEqual(new Set(listed));
    expect(await history.tally({ source: SOURCE, since: NOW + 1 })).toEqual({});
    await tellOutcomes(1);
    expect(await bytesInRedis()).toBeLessThan(MOST_IF_HELD);
    const told = await history.outcomes(USERS);
    expect(told.filter(({ state }) => state === 'reloaded').map((each) => each.workload)).toEqual(
      listed.reverse(),
    );
    expect(await history.tally({ source: SOURCE, since: NOW + 1 })).toMatchObject({
      ApiUnavailable: USERS / 100,
    });
  });

  it('costs no more the second time: each source has one tally, that of its latest change', async () => {
    await tellWide(1);
    await tellWide(2);
    expect(await redis.client.keys(`${keys.tallies}*`)).toHaveLength(1);
    expect(await history.tally({ source: SOURCE, since: NOW + 1 })).toBeNull();
    expect(await history.tally({ source: SOURCE, since: NOW + 2 })).not.toBeNull();
  });
});

describe('what a workload reloads for', () => {
  it('of many sources is told by name of the first, and counted', async () => {
    const names = Array.from({ length: 500 }, (_, index) => `ConfigMap/cm-${index}-${'x'.repeat(200)}`);
    const sources = Object.fromEntries(names.map((name, index) => [name, index === 400 ? 'Roll' : 'InStep']));
    await history.addOutcome(
      reloaded(1, { sources, rolled: names.slice(400, 401) }),
      `ConfigMap/shop/cm-499-${'x'.repeat(200)}`,
    );
    const [told] = await history.outcomes(1);
    expect(told?.sources).toMatchObject({ [names[400] ?? '']: 'Roll', [names[499] ?? '']: 'InStep' });
    expect(Object.keys(told?.sources ?? {}).length + (told?.omitted ?? 0)).toBe(500);
    expect(await bytesInRedis()).toBeLessThan(8_192);
  });
});

describe('the streams', () => {
  const BYTES = 1_048_576;
  const LARGE = { maxEntries: 100_000, maxAge: 86_400_000, maxBytes: BYTES };
  /** Fifteen entries more, before the bytes are looked at again. */
  const SLACK = 16 * 8_192;

  it('take no more bytes than they may, however large their entries are', async () => {
    const large = new History(redis.client, keys, LARGE);
    const why = (index: number): JudgedWorkload[] => [
      { workload: WEB, reason: 'AutoReload', detail: `${index} ${'x'.repeat(190)}` },
    ];
    const written = Array.from({ length: 6_000 }, (_, index) => index);
    // Small ones first: what is dropped must not be chosen by an average.
    for (let from = 0; from < written.length; from += 500)
      await Promise.all(
        written
          .slice(from, from + 500)
          .flatMap((index) => [
            large.addChange(
              changed(index, index < 5_000 ? {} : { woken: why(index), leftAlone: why(-index) }),
            ),
            large.addOutcome(reloaded(index, { detail: 'y'.repeat(index < 5_000 ? 1 : 5_000) })),
            large.addAudit({ ...AUDITED, reason: 'z'.repeat(200) }),
          ]),
      );
    expect(await bytesInRedis()).toBeLessThan(BYTES + 3 * SLACK);
    const newest = [await large.changes(1), await large.outcomes(1)].map(([entry]) => entry?.since);
    expect(newest).toEqual([5_999, 5_999]);
  });

  it('drop what an earlier version left, whose entries had no bound', async () => {
    const huge = JSON.stringify({ ...changed(1), woken: users('AutoReload', 'auto is true') });
    for (let index = 0; index < 5; index += 1) await redis.client.xadd(keys.changes, '*', 'entry', huge);
    const large = new History(redis.client, keys, LARGE);
    await large.trim(Date.now());
    expect(await bytesInRedis()).toBeLessThan(BYTES);
  });
});
