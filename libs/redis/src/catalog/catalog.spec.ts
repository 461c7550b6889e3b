import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { Redis } from 'ioredis';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Before } from '@reroll/core/history/change-cause';
import type { FoundBy } from '@reroll/core/state/outbox';
import type { SourceRow, WorkloadRow } from '@reroll/core/state/rows';
import { useRealRedis } from '../testing/real-redis.ts';
import { Catalog, type Publication } from './catalog.ts';
import { DECODED_PER_TURN } from './decode-rows.ts';
import { claimWhenReachable } from './claim.ts';
import type { ChangeEntry } from '@reroll/core/history/entries';
import { History } from '../history/history.ts';
import { sourceRow, workloadRow } from './testing/rows.ts';

const SETTINGS = 'ConfigMap/shop/settings';
const KEYS = 'Secret/shop/keys';
const WEB = 'Deployment/shop/web';
const API = 'Deployment/shop/api';

const redis = useRealRedis();
let catalog: Catalog;

beforeEach(() => {
  catalog = new Catalog(redis.client, redis.freshKeys());
});

/** A write of one leader, its first unless `sequence` says otherwise. */
function write(changed: Partial<Publication> & { term?: string; sequence?: number }): Promise<unknown> {
  const { term = '100', sequence = 0, begins = sequence === 0, sources = [], workloads = [] } = changed;
  return catalog.publish({ writer: { term, sequence }, begins, sources, workloads });
}

function workload(
  key: WorkloadKey,
  index: readonly SourceKey[],
  changed: Partial<WorkloadRow> = {},
): Publication['workloads'][number] {
  return [key, { row: workloadRow(changed), index }];
}

const DONE = { refused: false, gap: false, changed: [] };

describe('what is published', () => {
  it('is read back, sources and workloads alike', async () => {
    const source = sourceRow({ annotations: { match: 'true' } });
    const row = { uses: ['ConfigMap/settings'], record: '{"v":1,"s":{}}' };
    expect(
      await write({ sources: [[SETTINGS, source]], workloads: [workload(WEB, [SETTINGS], row)] }),
    ).toEqual(DONE);
    expect(await catalog.sources([SETTINGS, KEYS])).toEqual(new Map([[SETTINGS, source]]));
    expect(await catalog.workloads([API, WEB])).toEqual(new Map([[WEB, workloadRow(row)]]));
  });

  it('is found from each source that a workload is indexed under, in order', async () => {
    await write({ workloads: [workload(WEB, [SETTINGS, KEYS]), workload(API, [SETTINGS])] });
    expect(await catalog.users(SETTINGS)).toEqual([API, WEB]);
    expect(await catalog.users(KEYS)).toEqual([WEB]);
    expect(await catalog.users('ConfigMap/other/settings')).toEqual([]);
  });

  it('is asked for with no keys without a question to Redis', async () => {
    expect(await catalog.sources([])).toEqual(new Map());
    expect(await catalog.workloads([])).toEqual(new Map());
  });

  it('takes a workload out of the index where it no longer belongs', async () => {
    await write({ workloads: [workload(WEB, [SETTINGS, KEYS])] });
    await write({ sequence: 1, workloads: [workload(WEB, [KEYS, 'Secret/shop/tls'], { generation: 2 })] });
    expect(await catalog.users(SETTINGS)).toEqual([]);
    expect(await catalog.users(KEYS)).toEqual([WEB]);
    expect(await catalog.users('Secret/shop/tls')).toEqual([WEB]);
  });

  it('leaves nothing of a workload that is removed', async () => {
    await write({ workloads: [workload(WEB, [SETTINGS, KEYS]), workload(API, [KEYS])] });
    await write({ sequence: 1, workloads: [[WEB, undefined]] });
    expect(await catalog.workloads([WEB])).toEqual(new Map());
    expect(await catalog.users(SETTINGS)).toEqual([]);
    expect(await catalog.users(KEYS)).toEqual([API]);
  });

  it('may be a removal of what was never there', async () => {
    expect(await write({ workloads: [[WEB, undefined]] })).toEqual(DONE);
  });

  it('leaves nothing of a source that is removed, and what comes back is new whatever its version', async () => {
    await write({ sources: [[SETTINGS, sourceRow({ rv: '20' })]] });
    const gone = { sequence: 1, sources: [[SETTINGS, undefined]] } as const;
    expect(await write(gone)).toEqual(DONE);
    expect(await catalog.sources([SETTINGS])).toEqual(new Map());
    const back = sourceRow({ rv: '10', hash: '1.B' });
    expect(await write({ sequence: 2, sources: [[SETTINGS, back]] })).toEqual(DONE);
    expect((await catalog.sources([SETTINGS])).get(SETTINGS)).toEqual(back);
  });

  it('removes nothing for a leader that was overtaken', async () => {
    await write({ term: '200', sources: [[SETTINGS, sourceRow()]] });
    expect(await write({ sources: [[SETTINGS, undefined]] })).toEqual({ refused: true });
    expect((await catalog.sources([SETTINGS])).get(SETTINGS)).toEqual(sourceRow());
  });

  it('mends an index that has lost an entry, though the row is as it was', async () => {
    await write({ workloads: [workload(WEB, [SETTINGS])] });
    await redis.client.del(catalog.keys.users + SETTINGS);
    await write({ sequence: 1, workloads: [workload(WEB, [SETTINGS])] });
    expect(await catalog.users(SETTINGS)).toEqual([WEB]);
  });
});

describe('a source row', () => {
  it.each([
    ['of a later version replaces the one there', '10', '11', true],
    ['with one digit more is later', '99', '100', true],
    ['of an earlier version does not', '11', '10', false],
    ['with one digit less is earlier', '100', '99', false],
    ['of the same version does not', '10', '10', false],
    ['beyond what a number can hold is compared by digits', '9007199254740993', '9007199254740992', false],
  ])('%s', async (_, held, given, replaces) => {
    const [old, young] = [sourceRow({ rv: held }), sourceRow({ rv: given, dataRv: '9', modifiedAt: 5 })];
    await write({ sources: [[SETTINGS, old]] });
    await write({ sequence: 1, sources: [[SETTINGS, young]] });
    expect((await catalog.sources([SETTINGS])).get(SETTINGS)).toEqual(replaces ? young : old);
  });

  it('that the script cannot read is written as it is, and those beside it too', async () => {
    await write({ sources: [[SETTINGS, sourceRow({ rv: '10' })]] });
    const halved = sourceRow({ rv: '11', annotations: { 'reroll.dev/waves': '\ud83d…' } });
    expect(
      await write({
        sequence: 1,
        sources: [
          [SETTINGS, halved],
          [KEYS, sourceRow()],
        ],
      }),
    ).toEqual(DONE);
    expect([...(await catalog.sources([SETTINGS, KEYS])).values()]).toEqual([halved, sourceRow()]);
  });

  it('of the same version replaces one under another scheme of hashing', async () => {
    await write({ sources: [[SETTINGS, sourceRow()]] });
    const rehashed = sourceRow({ hash: 'k0a1b2c3d.B' });
    expect(await write({ sequence: 1, sources: [[SETTINGS, rehashed]] })).toEqual(DONE);
    expect((await catalog.sources([SETTINGS])).get(SETTINGS)).toEqual(rehashed);
  });

  it.each<[string, Partial<SourceRow>, Partial<SourceRow>]>([
    ['read fewer annotations', {}, { annotations: { match: 'true' } }],
    ['read other annotations', { annotations: { match: 'true' } }, { annotations: { match: 'false' } }],
    ['read more annotations', { annotations: { ignore: 'true', match: 'true' } }, {}],
    ['saw the source with its labels', {}, { isUnwatched: true }],
    ['saw the source without its labels', { isUnwatched: true }, {}],
  ])('of the same version replaces one whose writer %s', async (_, held, given) => {
    await write({ sources: [[SETTINGS, sourceRow(held)]] });
    const row = sourceRow(given);
    expect(await write({ term: '101', sources: [[SETTINGS, row]] })).toEqual(DONE);
    expect((await catalog.sources([SETTINGS])).get(SETTINGS)).toEqual(row);
  });

  it('of the same version does not replace one that dates the data better', async () => {
    const row = sourceRow({ rv: '30', dataRv: '10', annotations: { match: 'true' }, created: true });
    await write({ sources: [[SETTINGS, row]] });
    const { created: _, ...listed } = { ...row, dataRv: '30', modifiedAt: 5 };
    await write({ term: '101', sources: [[SETTINGS, listed]] });
    expect((await catalog.sources([SETTINGS])).get(SETTINGS)).toEqual(row);
  });
});

describe('a row of a SecretProviderClass', () => {
  it.each([
    ['with annotations of a later write of the class replaces one of the same version', '100', true],
    ['with annotations of an earlier write of the class does not', '98', false],
    ['with other annotations of the same write does too', '99', true],
  ])('%s', async (_, rv, replaces) => {
    const row = (of: string, annotations: Record<string, string>) =>
      sourceRow({ annotations, providerClass: { markerHash: 'a1', rv: of } });
    const [old, young] = [row('99', {}), row(rv, { ignore: 'true' })];
    await write({ sources: [[SETTINGS, old]] });
    await write({ sequence: 1, sources: [[SETTINGS, young]] });
    expect((await catalog.sources([SETTINGS])).get(SETTINGS)).toEqual(replaces ? young : old);
  });
});

describe('a source is reported as changed', () => {
  const later = { rv: '20', dataRv: '20' };

  it.each([
    ['if another hash was there', {}, { hash: '1.B' }, true],
    ['also if it had been deleted meanwhile', { exists: false }, { hash: '1.B' }, true],
    ['also if it was deleted and is there again with the same hash', { exists: false }, {}, true],
    ['but not if the hash is the same', {}, {}, false],
    ['but not if it exists no more', {}, { hash: '1.B', exists: false }, false],
    ['but not if the hashes are of two schemes', {}, { hash: 'k0a1b2c3d.B' }, false],
    ['but not if the row is an old one', {}, { hash: '1.B', rv: '9' }, false],
  ])('%s', async (_, held, given, isChanged) => {
    await write({ sources: [[SETTINGS, sourceRow(held)]] });
    const sources: Publication['sources'] = [
      [KEYS, sourceRow(later)],
      [SETTINGS, sourceRow({ ...later, ...given })],
    ];
    expect(await write({ sequence: 1, sources })).toEqual({
      ...DONE,
      changed: isChanged ? [SETTINGS] : [],
    });
  });

  it('but not at its first sight', async () => {
    expect(await write({ sources: [[SETTINGS, sourceRow()]] })).toEqual(DONE);
  });
});

describe('a leader', () => {
  it.each(['99', '10', '9'])(
    'of the earlier term %s is refused, and nothing of it is written',
    async (term) => {
      await write({ term: '100', workloads: [workload(WEB, [SETTINGS])] });
      const stale = { sources: [[SETTINGS, sourceRow()]], workloads: [[WEB, undefined]] } as const;
      expect(await write({ term, sequence: 7, ...stale })).toEqual({ refused: true });
      expect(await catalog.sources([SETTINGS])).toEqual(new Map());
      expect(await catalog.users(SETTINGS)).toEqual([WEB]);
      expect(await catalog.isLastWriter({ term: '100', sequence: 1 })).toBe(true);
    },
  );

  it('of a later term takes over, and its first write is no gap', async () => {
    await write({ term: '99' });
    expect(await write({ term: '100' })).toEqual(DONE);
    expect(await write({ term: '99', sequence: 1 })).toEqual({ refused: true });
  });

  it('knows its own writes to be the last', async () => {
    expect(await catalog.isLastWriter({ term: '100', sequence: 0 })).toBe(false);
    await write({});
    expect(await catalog.isLastWriter({ term: '100', sequence: 1 })).toBe(true);
    await write({ term: '101' });
    expect(await catalog.isLastWriter({ term: '100', sequence: 1 })).toBe(false);
  });

  it('writes in one unbroken sequence without a gap', async () => {
    for (let sequence = 0; sequence < 12; sequence += 1) {
      expect(await write({ sequence })).toEqual(DONE);
    }
  });

  it('notices at its next write that Redis was emptied', async () => {
    await write({ sources: [[SETTINGS, sourceRow()]] });
    await redis.client.flushall();
    expect(await catalog.isLastWriter({ term: '100', sequence: 1 })).toBe(false);
    expect(await write({ sequence: 1, sources: [[SETTINGS, sourceRow()]] })).toEqual({ ...DONE, gap: true });
    expect(await catalog.sources([SETTINGS])).toEqual(new Map());
    expect(await write({ sequence: 2, begins: true })).toEqual(DONE);
    expect(await write({ sequence: 3 })).toEqual(DONE);
  });

  it('notices at its next write that an earlier one was lost, as when Redis is set back in time', async () => {
    await write({});
    const earlier = await redis.client.get(catalog.keys.writer);
    await write({ sequence: 1, sources: [[SETTINGS, sourceRow()]] });
    await redis.client.del(catalog.keys.sources);
    await redis.client.set(catalog.keys.writer, earlier ?? '');
    expect(await write({ sequence: 2 })).toEqual({ ...DONE, gap: true });
  });
});

describe('a write that is sent twice', () => {
  const B = sourceRow({ hash: '1.B', rv: '11' });

  it.each([
    ['the first of a leader', 0],
    ['one that follows', 1],
  ])('%s, is recognized, written once, and answered as the first time', async (_what, sequence) => {
    await write({
      term: '99',
      sources: [
        [SETTINGS, sourceRow()],
        [KEYS, sourceRow()],
      ],
    });
    if (sequence > 0) await write({});
    const sources = [[SETTINGS, B] as const, [KEYS, sourceRow()] as const];
    const answer = { ...DONE, changed: [SETTINGS] };
    expect(await write({ sequence, sources })).toEqual(answer);
    await redis.client.hset(catalog.keys.sources, KEYS, 'untouched');
    expect(await write({ sequence, sources })).toEqual(answer);
    expect(await redis.client.hget(catalog.keys.sources, KEYS)).toBe('untouched');
    expect(await write({ sequence: sequence + 1 })).toEqual(DONE);
  });

  it('does nothing if it arrives after a later one', async () => {
    await write({ sources: [[SETTINGS, sourceRow()]] });
    await write({ sequence: 1, sources: [[SETTINGS, undefined]] });
    expect(await write({ sources: [[SETTINGS, sourceRow()]] })).toEqual({ ...DONE, gap: true });
    expect(await catalog.sources([SETTINGS])).toEqual(new Map());
    expect(await write({ sequence: 2 })).toEqual(DONE);
  });

  it('after an error in its middle is written whole', async () => {
    await redis.client.set(catalog.keys.workloads, 'not a hash');
    const publication = { sources: [[SETTINGS, sourceRow()] as const], workloads: [workload(WEB, [KEYS])] };
    await expect(write(publication)).rejects.toThrow();
    await redis.client.del(catalog.keys.workloads);
    expect(await write(publication)).toEqual(DONE);
    expect(await catalog.users(KEYS)).toEqual([WEB]);
  });
});

describe('changes that are still to be told', () => {
  it('are found from the rows that were written, until they are told', async () => {
    const untold = async (): Promise<string[]> => {
      const found: string[] = [];
      for await (const keys of catalog.eachUntold()) found.push(...keys);
      return found;
    };
    await write({
      sources: [
        [SETTINGS, sourceRow()],
        [KEYS, sourceRow()],
      ],
    });
    expect(await untold()).toEqual([]);
    await write({ sequence: 1, sources: [[SETTINGS, sourceRow({ hash: '1.B', rv: '11' }), 'event']] });
    expect(await untold()).toEqual([SETTINGS]);
    const history = new History(redis.client, catalog.keys, {
      maxEntries: 100,
      maxAge: 1_000,
      maxBytes: 33_554_432,
    });
    const told = { source: SETTINGS, cause: 'updated', since: 0, at: 1, from: null, hash: '1.B' } as const;
    await history.addChange({ ...told, woken: [], leftAlone: [] });
    expect(await untold()).toEqual([]);
  });
});

describe('claiming', () => {
  it('refuses another cluster under the same name, and says what to do', async () => {
    await catalog.claim('uid-1');
    const refusal = catalog.claim('uid-2');
    await expect(refusal).rejects.toMatchObject({ name: 'CatalogError', code: 'CATALOG_OTHER_CLUSTER' });
    await expect(refusal).rejects.toThrow(/expected kube-system uid uid-2, found uid-1.*--cluster-name/);
  });

  it('is for one cluster, as often as it likes, and for processes that may not read its uid', async () => {
    await catalog.claim(undefined);
    await catalog.claim('uid-1');
    await catalog.claim(undefined);
    await catalog.claim('uid-1');
  });

  it('of two clusters under two names is for both', async () => {
    await catalog.claim('uid-1');
    await new Catalog(redis.client, redis.freshKeys()).claim('uid-2');
  });

  it('waits for a Redis that cannot be reached, until it is to end', async () => {
    const end = new AbortController();
    const { signal } = new AbortController();
    const hooks = { onDown: () => undefined, onUp: () => undefined };
    const unreachable = new Redis('redis://127.0.0.1:1', { retryStrategy: () => 20, commandTimeout: 30 });
    unreachable.on('error', () => end.abort());
    const waiting = new Catalog(unreachable, redis.freshKeys());
    expect(await claimWhenReachable(waiting, 'uid-1', { signal: end.signal, hooks })).toBe(false);
    unreachable.disconnect();
    expect(await claimWhenReachable(catalog, 'uid-1', { signal, hooks })).toBe(true);
  });
});

describe('what a reload job looks up', () => {
  const reading = { rv: '12', hash: `1.${'B'.repeat(43)}`, markerHash: 'da39a3ee'.repeat(5) };

  it('is the row of the workload, and rows and readings of its sources, as far as there are any', async () => {
    await write({ sources: [[SETTINGS, sourceRow()]], workloads: [workload(WEB, [SETTINGS, KEYS])] });
    await catalog.putReading(KEYS, reading);
    expect(await catalog.reloadFacts(WEB, [SETTINGS, KEYS])).toEqual({
      workload: workloadRow(),
      sources: new Map([[SETTINGS, sourceRow()]]),
      readings: new Map([[KEYS, reading]]),
    });
  });

  it('is the row alone for a workload without sources', async () => {
    await write({ workloads: [workload(WEB, [])] });
    expect(await catalog.reloadFacts(WEB, [])).toEqual({
      workload: workloadRow(),
      sources: new Map(),
      readings: new Map(),
    });
  });

  it('is nothing for one that the catalog does not know', async () => {
    expect((await catalog.reloadFacts(WEB, [SETTINGS])).workload).toBeUndefined();
  });

  it('has of two readings the later one, for ten minutes', async () => {
    await catalog.putReading(KEYS, reading);
    await catalog.putReading(KEYS, { ...reading, rv: '13' });
    expect((await catalog.reloadFacts(WEB, [KEYS])).readings.get(KEYS)?.rv).toBe('13');
    const left = await redis.client.ttl(catalog.keys.readings + KEYS);
    expect(left).toBeGreaterThan(590);
    expect(left).toBeLessThanOrEqual(600);
  });
});

describe('what nobody of ours can have written', () => {
  const FORGED = ['', 'no JSON', '[]', 'null', '7', '{}', '{"i":[1]}', '{"h":{},"v":[],"i":"x"}'];

  it.each(FORGED)('%j is no row, and the next write puts a row in its place', async (text) => {
    await redis.client.hset(catalog.keys.sources, SETTINGS, text);
    await redis.client.hset(catalog.keys.workloads, WEB, text);
    await redis.client.set(catalog.keys.readings + SETTINGS, text);
    const facts = await catalog.reloadFacts(WEB, [SETTINGS]);
    expect(facts).toEqual({ workload: undefined, sources: new Map(), readings: new Map() });
    for await (const rows of catalog.eachSource(() => true)) expect(rows).toEqual([]);
    for await (const rows of catalog.eachWorkload(() => true)) expect(rows).toEqual([]);
    expect(
      await write({ sources: [[SETTINGS, sourceRow()]], workloads: [workload(WEB, [SETTINGS])] }),
    ).toEqual(DONE);
    expect((await catalog.sources([SETTINGS])).get(SETTINGS)).toEqual(sourceRow());
    expect((await catalog.workloads([WEB])).get(WEB)).toEqual(workloadRow());
  });
});

describe('2,500 rows', () => {
  const names = Array.from({ length: 2_500 }, (_, index) => `w${index}`);
  const deployments = names.map((name) => `Deployment/shop/${name}` as const);
  const configMaps = names.map((name) => `ConfigMap/shop/${name}` as const);

  async function keysOf(portions: AsyncIterable<readonly (readonly [string, unknown])[]>): Promise<string[]> {
    const found = new Set<string>();
    for await (const portion of portions) for (const [key] of portion) found.add(key);
    return [...found].sort();
  }

  beforeEach(async () => {
    await write({
      sources: configMaps.map((key) => [key, sourceRow()]),
      workloads: deployments.map((key) => workload(key, [SETTINGS])),
    });
  });

  it('are all found by a scan, sources and workloads', async () => {
    expect(await keysOf(catalog.eachSource(() => true))).toEqual([...configMaps].sort());
    expect(await keysOf(catalog.eachWorkload(() => true))).toEqual([...deployments].sort());
  });

  it('are given as far as they are wanted', async () => {
    const wanted = (key: string): boolean => key.endsWith('7');
    expect(await keysOf(catalog.eachWorkload(wanted))).toEqual(deployments.filter(wanted).sort());
  });

  it('are all users of one source', async () => {
    expect(await catalog.users(SETTINGS)).toEqual([...deployments].sort());
  });
});

describe('beside the rows', () => {
  it.each([
    ['warning', (text: string) => catalog.isNewWarning(WEB, 'kind', text), 'kind'],
    ['hold', (text: string) => catalog.isNewHold(WEB, text), 'hold'],
  ])('a %s is new once a day, and at most one in ten seconds', async (_, isNew, kind) => {
    const key = `${catalog.keys.warned}${WEB}:${kind}`;
    expect(await isNew('bad pattern')).toBe(true);
    expect(await isNew('bad pattern')).toBe(false);
    expect(await isNew('another')).toBe(false);
    expect(await redis.client.ttl(key)).toBeGreaterThan(86_000);
    expect(await redis.client.ttl(`${key}:lately`)).toBeLessThanOrEqual(10);
    await redis.client.del(`${key}:lately`);
    expect(await isNew('bad pattern')).toBe(false);
    expect(await isNew('another')).toBe(true);
  });

  it('a hold is new again after its end, but at most one in ten seconds', async () => {
    expect(await catalog.isNewHold(WEB, 'frozen')).toBe(true);
    await catalog.forgetHold(WEB);
    expect(await catalog.isNewHold(WEB, 'frozen')).toBe(false);
    await redis.client.del(`${catalog.keys.warned}${WEB}:hold:lately`);
    expect(await catalog.isNewHold(WEB, 'frozen')).toBe(true);
    await catalog.forgetHold(API);
    expect(await catalog.isNewHold(WEB, 'frozen')).toBe(false);
  });

  it('a warning is new for each kind and workload', async () => {
    expect(await catalog.isNewWarning(WEB, 'patterns', 'x')).toBe(true);
    expect(await catalog.isNewWarning(WEB, 'pause', 'x')).toBe(true);
    expect(await catalog.isNewWarning(API, 'pause', 'x')).toBe(true);
  });

  it('warnings about one workload take no more room, however many and long their texts are', async () => {
    const key = `${catalog.keys.warned}${WEB}:patterns`;
    const roomAfter = async (text: string): Promise<unknown[]> => {
      await redis.client.del(`${key}:lately`);
      expect(await catalog.isNewWarning(WEB, 'patterns', text)).toBe(true);
      return [await redis.client.keys(`${catalog.keys.warned}*`), await redis.client.strlen(key)];
    };
    expect(await roomAfter('x'.repeat(100_000))).toEqual(await roomAfter('y'));
  });

  it('the record that a dry run pretends to have written is kept until it is dropped', async () => {
    expect(await catalog.pretended(WEB)).toBeUndefined();
    await catalog.pretend(WEB, '{"v":1,"s":{}}');
    expect(await catalog.pretended(WEB)).toBe('{"v":1,"s":{}}');
    await catalog.dropPretended();
    expect(await catalog.pretended(WEB)).toBeUndefined();
  });

  it('what a dry run pretends goes with its workload, if the leader that removes it may write', async () => {
    await write({ workloads: [workload(WEB, []), workload(API, [])] });
    await catalog.pretend(WEB, 'web');
    await catalog.pretend(API, 'api');
    const removal = { sources: [], workloads: [[WEB, undefined]] } as const;
    expect(await catalog.publish({ ...removal, writer: { term: '1', sequence: 0 } })).toEqual({
      refused: true,
    });
    expect(await catalog.pretended(WEB)).toBe('web');
    await write({ workloads: [[WEB, undefined]] });
    expect([await catalog.pretended(WEB), await catalog.pretended(API)]).toEqual([undefined, 'api']);
  });

  it('a reload job that waits for its next attempt is known, until it does not', async () => {
    await catalog.setBackingOff(WEB, '17');
    expect(await catalog.backingOff([WEB, API])).toEqual(new Map([[WEB, '17']]));
    await catalog.setBackingOff(WEB, null);
    expect(await catalog.backingOff([WEB])).toEqual(new Map());
  });

  it('every key is under the one prefix with its hash tag, as Redis Cluster needs it', async () => {
    await catalog.claim('uid-1');
    await write({ sources: [[SETTINGS, sourceRow()]], workloads: [workload(WEB, [SETTINGS])] });
    await catalog.putReading(SETTINGS, {
      rv: '1',
      hash: `1.${'A'.repeat(43)}`,
      markerHash: '0'.repeat(40),
    });
    await catalog.isNewWarning(WEB, 'patterns', 'x');
    const cluster = catalog.keys.prefix.slice(1, -1);
    const keys = await redis.client.keys(`*${cluster}*`);
    expect(keys.length).toBeGreaterThanOrEqual(7);
    for (const key of keys) expect(key.startsWith(`${catalog.keys.prefix}:`)).toBe(true);
  });
});

describe('what the next change of a source is told from', () => {
  const [hashA, hashB, hashC] = ['A', 'B', 'C'].map((letter) => `1.${letter.repeat(43)}`) as [
    string,
    string,
    string,
  ];
  const [A, B, C] = [hashA, hashB, hashC].map((hash, n) => sourceRow({ hash, rv: String(10 + n) }));
  const gone = sourceRow({ hash: hashA, exists: false, rv: '20' });
  const back = sourceRow({ hash: hashA, rv: '21' });
  let history: History;

  beforeEach(() => {
    history = new History(redis.client, catalog.keys, {
      maxEntries: 100,
      maxAge: 1_000,
      maxBytes: 33_554_432,
    });
  });

  /** Publishes these states one after another, the first by a list. */
  async function states(...rows: readonly (readonly [SourceRow | undefined, FoundBy?])[]): Promise<void> {
    for (const [sequence, [row, foundBy]] of rows.entries()) {
      await write({ sequence, sources: [[SETTINGS, row, foundBy]] });
    }
  }

  it.each<[string, readonly (readonly [SourceRow | undefined, FoundBy?])[], Before | undefined]>([
    ['is nothing for one that was only listed', [[A]], undefined],
    ['is the hash before a live write', [[A], [B, 'event']], { foundBy: 'event', hash: hashA }],
    ['is the hash before what a list found', [[A], [B, 'list']], { foundBy: 'list', hash: hashA }],
    ['is the hash before what a new leader asserts', [[A], [B]], { foundBy: 'list', hash: hashA }],
    [
      'is that before the first of several',
      [[A], [B, 'event'], [C, 'list']],
      { foundBy: 'event', hash: hashA },
    ],
    ['is nothing for one that is created', [[A, 'event']], { foundBy: 'event', hash: null }],
    ['is the hash before a deletion', [[A], [gone, 'event']], { foundBy: 'event', hash: hashA }],
    ['is not asked for by a deletion of which no job comes', [[A], [gone]], undefined],
    ['is nothing for one that comes back', [[A], [gone], [back, 'event']], { foundBy: 'event', hash: null }],
    ['is forgotten with a source that leaves the scope', [[A], [B, 'event'], [undefined]], undefined],
  ])('%s', async (_what, rows, expected) => {
    await states(...rows);
    expect(await history.before(SETTINGS)).toEqual(expected);
  });

  it('is not touched by another scheme of the same data', async () => {
    await states([A], [sourceRow({ hash: `k00000000.${'A'.repeat(43)}` })]);
    expect(await history.before(SETTINGS)).toBeUndefined();
  });

  it('is, once a change is told, the next one', async () => {
    await states([A], [B, 'event']);
    await history.addChange(told(hashB));
    expect(await history.before(SETTINGS)).toBeUndefined();
    await write({ sequence: 2, sources: [[SETTINGS, C, 'event']] });
    expect(await history.before(SETTINGS)).toEqual({ foundBy: 'event', hash: hashB });
  });

  it('is what was told, if the row was ahead of it or behind it', async () => {
    await states([A], [B, 'event'], [C, 'event']);
    await history.addChange(told(hashB));
    expect(await history.before(SETTINGS)).toEqual({ foundBy: 'event', hash: hashB });
    await history.addChange(told(hashC));
    expect(await history.before(SETTINGS)).toBeUndefined();
    await history.addChange(told(null));
    expect(await history.before(SETTINGS)).toEqual({ foundBy: 'event', hash: null });
  });

  function told(hash: string | null): ChangeEntry {
    return {
      source: SETTINGS,
      cause: 'updated',
      since: 0,
      at: 1,
      from: hashA,
      hash,
      woken: [],
      leftAlone: [],
    };
  }
});

describe('rows that are many and large', () => {
  const MANY = 60;
  const NAMES = Array.from({ length: 1_000 }, (_, n) => `ConfigMap/settings-${n}`);
  const KEYS_OF_ALL = Array.from({ length: MANY }, (_, n) => `Deployment/shop/web-${n}` as const);

  /** Runs `read`, and returns the most characters of JSON that it parsed in one turn of the event loop, and in all. */
  async function parsedBy(read: () => Promise<unknown>): Promise<{ most: number; all: number }> {
    const { parse } = JSON;
    let [most, all, inTurn, isOver] = [0, 0, 0, false];
    const counting = vi.spyOn(JSON, 'parse').mockImplementation((text: string) => {
      inTurn += text.length;
      all += text.length;
      most = Math.max(most, inTurn);
      return parse(text) as unknown;
    });
    const turn = (): void => {
      inTurn = 0;
      if (!isOver) setImmediate(turn);
    };
    turn();
    try {
      await read();
    } finally {
      isOver = true;
      counting.mockRestore();
    }
    return { most, all };
  }

  it.each<[string, () => Promise<unknown>]>([
    ['by key', () => catalog.workloads(KEYS_OF_ALL)],
    [
      'by a scan',
      async () => {
        let found = 0;
        for await (const rows of catalog.eachWorkload(() => true)) found += rows.length;
        expect(found).toBe(MANY);
      },
    ],
  ])('are decoded in several turns %s, however many read at once', async (_, read) => {
    const workloads = KEYS_OF_ALL.map((key) => workload(key, [], { uses: NAMES, dependencies: NAMES }));
    await write({ workloads });
    for (const reads of [1, 8]) {
      const { most, all } = await parsedBy(() => Promise.all(Array.from({ length: reads }, read)));
      expect(all).toBeGreaterThan(4 * reads * DECODED_PER_TURN);
      expect(most).toBeLessThanOrEqual(DECODED_PER_TURN + all / reads / MANY);
    }
  });
});
