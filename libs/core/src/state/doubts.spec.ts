import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { recordOf, seenSource, seenWorkload, sourceRow, workloadRow } from '../testing/rows.ts';
import { ClusterState } from './cluster-state.ts';
import type { SourceKey } from '../model.ts';
import type { ObservedWorkload, SourceRow, WorkloadRow } from './rows.ts';
import { NO_TRIGGERS } from './settings.ts';
import { inOneGo } from './slices.ts';
import { work } from '../work.ts';

const CM = 'ConfigMap/ns/cm';
const WEB = 'Deployment/ns/web';
const CONFIG_MAPS = { kind: 'ConfigMap', namespace: '' } as const;
const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };

function allA(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, 'A']));
}

interface Gap {
  readonly workloads?: readonly string[];
  readonly sources?: readonly string[];
  readonly owner?: ObservedWorkload['templateOwner'];
}

/** After a gap in which the source was written at 120, without a change of data, and the template at 125. */
function afterGap({ workloads = ['web'], sources = ['cm'], owner }: Gap = {}): ClusterState {
  const uses = sources.map((name) => `ConfigMap/${name}`);
  const more = { uses, record: recordOf(allA(sources)) };
  const owned = owner ? { templateOwner: owner } : {};
  const wasOwned = owner ? { templateOwner: { ...owner, generation: 1, rv: '15' } } : {};
  const before = new ClusterState({ decision, adoptedAt: 0 });
  for (const name of workloads) before.workloadWritten(seenWorkload(name, 20, { ...more, ...wasOwned }));
  const clusterState = new ClusterState({ decision, adoptedAt: 0 });
  clusterState.sourcesListed({
    scope: CONFIG_MAPS,
    rv: '130',
    objects: sources.map((name) => seenSource(name, 120, 'A')),
    catalog: new Map(),
  });
  clusterState.workloadListBegins({ kind: 'Deployment', namespace: '' });
  clusterState.workloadsListed({
    scope: { kind: 'Deployment', namespace: '' },
    rv: '131',
    objects: workloads.map((name) => seenWorkload(name, 125, { template: 't2', ...more, ...owned })),
    catalog: before.workloads,
  });
  return clusterState;
}

function doubtsOf(clusterState: ClusterState): readonly string[] {
  return [...clusterState.doubts.sources()].flat();
}

/** Settles by the row that a leader wrote which saw the template at 125, and no write of the status after it. */
function settleTemplate(clusterState: ClusterState, more: Partial<WorkloadRow> = {}): string | undefined {
  const seen = {
    uid: 'uid-web',
    generation: 2,
    rv: '125',
    templateRv: '125',
    record: recordOf(allA(['cm'])),
  };
  const row = workloadRow({ ...seen, unverified: ['ConfigMap/cm'], ...more });
  const rows = new Map([...clusterState.doubts.workloads()].flat().map((key) => [key, row]));
  inOneGo(clusterState.doubts.settleTemplates(rows));
  return clusterState.pending.get(WEB)?.cause;
}

function settle(clusterState: ClusterState, row: SourceRow): string | undefined {
  const rows = doubtsOf(clusterState).map((key) => [key as SourceKey, row] as const);
  if (clusterState.doubts.settleSources(new Map(rows))) inOneGo(clusterState.doubts.judge());
  return clusterState.pending.get(WEB)?.cause;
}

describe('a workload that a list leaves pending although it has recorded the data', () => {
  it('is in doubt', () => {
    const clusterState = afterGap();
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
    expect(doubtsOf(clusterState)).toEqual([CM]);
  });

  it('is settled by a row of the catalog for the same write that dates the data earlier', () => {
    const clusterState = afterGap();
    const outbox = clusterState.outbox.sources.size;
    expect(settle(clusterState, sourceRow(120, 'A', { dataRv: '10' }))).toBeUndefined();
    expect(clusterState.sources.get(CM)).toEqual(sourceRow(120, 'A', { dataRv: '10' }));
    expect(clusterState.outbox.sources.size).toBe(outbox);
    expect(doubtsOf(clusterState)).toEqual([]);
  });

  it.each([
    ['an earlier write', sourceRow(10, 'A')],
    ['a later write', sourceRow(140, 'A', { dataRv: '10' })],
    ['other data', sourceRow(120, 'B', { dataRv: '10' })],
    ['a deletion', sourceRow(120, 'A', { dataRv: '10', exists: false })],
    ['a later date', sourceRow(120, 'A')],
  ])('stays pending if the catalog has %s', (_, row) => {
    const clusterState = afterGap();
    const held = clusterState.sources.get(CM);
    expect(settle(clusterState, row)).toBe('owed');
    expect(clusterState.sources.get(CM)).toBe(held);
  });
});

it('keeps the date of a creation that counts, though none does for the leader', () => {
  const clusterState = new ClusterState({
    decision,
    adoptedAt: 0,
    triggers: { ...NO_TRIGGERS, onCreate: true },
  });
  clusterState.sourcesListed({
    scope: CONFIG_MAPS,
    rv: '10',
    objects: [seenSource('cm', 5, 'A')],
    catalog: new Map(),
  });
  clusterState.sourceDeleted(CM, '15', CONFIG_MAPS);
  clusterState.workloadWritten(seenWorkload('web', 20, { record: recordOf({ cm: 'A' }) }));
  clusterState.sourceWritten(seenSource('cm', 120, 'A'), CONFIG_MAPS);
  expect(doubtsOf(clusterState)).toEqual([CM]);
  expect(settle(clusterState, sourceRow(120, 'A', { dataRv: '5', returned: true }))).toBe('owed');
});

describe('a workload whose template a list dates too early', () => {
  it('is settled by a row of the catalog for the same template that dates it later', () => {
    const clusterState = afterGap();
    const outbox = clusterState.outbox.workloads.size;
    expect(settleTemplate(clusterState)).toBeUndefined();
    expect(clusterState.workloads.get(WEB)).toMatchObject({ rv: '125', templateRv: '125' });
    expect(clusterState.outbox.workloads.size).toBe(outbox);
    expect(doubtsOf(clusterState)).toEqual([]);
  });

  it('is settled although a status was written since, for which a leader writes no row', () => {
    const clusterState = afterGap();
    const more = { template: 't2', record: recordOf(allA(['cm'])) };
    clusterState.workloadWritten(seenWorkload('web', 140, more));
    expect(settleTemplate(clusterState)).toBeUndefined();
  });

  const owner = { key: 'Deployment/ns/owner', uid: 'o', generation: 3, rv: '126', isMarked: true } as const;

  it('is settled by a date of the owner of its template', () => {
    expect(settleTemplate(afterGap({ owner }), { templateRv: '126', templateOwner: owner })).toBeUndefined();
  });

  it.each<[string, Partial<WorkloadRow>]>([
    ['another workload of that name', { uid: 'another' }],
    ['an earlier template', { generation: 1 }],
    ['a later template', { generation: 3 }],
    ['a template of another owner', { templateOwner: owner }],
    ['a date that was not seen here yet, as of another history of etcd', { templateRv: '126' }],
    ['an earlier date', { templateRv: '19' }],
  ])('stays as it is if the catalog has %s', (_, more) => {
    const clusterState = afterGap();
    const held = clusterState.workloads.get(WEB);
    expect(settleTemplate(clusterState, more)).toBe('owed');
    expect(clusterState.workloads.get(WEB)).toBe(held);
  });

  it('stays pending if the data is later than that date', () => {
    expect(settleTemplate(afterGap(), { templateRv: '119' })).toBe('owed');
  });

  it('is pending again once the stream shows that the pods began with other data', () => {
    const clusterState = afterGap();
    expect(settleTemplate(clusterState)).toBeUndefined();
    clusterState.sourceWritten(seenSource('cm', 123, 'B'), CONFIG_MAPS);
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
    clusterState.sourceWritten(seenSource('cm', 128, 'A'), CONFIG_MAPS);
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });
});

describe('a workload whose record the leader has verified', () => {
  const verified = { templateRv: '20', unverified: [] };

  it('is settled, and its row stays as it is', () => {
    const clusterState = afterGap();
    const held = clusterState.workloads.get(WEB);
    expect(settleTemplate(clusterState, verified)).toBeUndefined();
    expect(clusterState.workloads.get(WEB)).toBe(held);
  });

  it('is pending again once this watcher leads, as the leader may have ended before it judged the source', () => {
    const clusterState = afterGap();
    clusterState.sourceWritten(seenSource('cm', 130, 'B'), CONFIG_MAPS);
    clusterState.sourceWritten(seenSource('cm', 140, 'A'), CONFIG_MAPS);
    expect(settleTemplate(clusterState, { unverified: [] })).toBeUndefined();
    clusterState.outbox.clear();
    clusterState.assertAll();
    inOneGo(clusterState.resync());
    expect([...clusterState.outbox.reloads]).toEqual([[WEB, 'owed']]);
  });

  it('stays pending if it has another record by now', () => {
    const record = recordOf({ cm: 'A', other: 'A' });
    expect(settleTemplate(afterGap(), { ...verified, record })).toBe('owed');
  });

  it('is not made pending by an earlier row of the leader', () => {
    const record = recordOf({ cm: 'A' });
    const clusterState = new ClusterState({ decision, adoptedAt: 0 });
    clusterState.sourcesListed({
      scope: CONFIG_MAPS,
      rv: '10',
      objects: [seenSource('cm', 5, 'A')],
      catalog: new Map(),
    });
    clusterState.workloadWritten(seenWorkload('web', 20, { record }));
    clusterState.sourceWritten(seenSource('cm', 30, 'B'), CONFIG_MAPS);
    clusterState.sourceWritten(seenSource('cm', 40, 'A'), CONFIG_MAPS);
    const row = workloadRow({ uid: 'uid-web', templateRv: '20', record, unverified: ['ConfigMap/cm'] });
    inOneGo(clusterState.doubts.settleTemplates(new Map([[WEB, row]])));
    expect(clusterState.pending.size).toBe(0);
  });
});

it('reads the rows of at most 500 workloads at once, and each once, however many sources are in doubt', () => {
  const workloads = Array.from({ length: 1_100 }, (_, n) => `web-${n}`);
  const many = [...afterGap({ workloads }).doubts.workloads()];
  expect(many.map(({ length }) => length).filter((length) => length > 0)).toEqual([500, 500, 100]);
  expect(new Set(many.flat()).size).toBe(1_100);
  const sources = Array.from({ length: 600 }, (_, n) => `cm-${n}`);
  expect([...afterGap({ sources }).doubts.workloads()].flat()).toEqual([WEB]);
});

it('doubts nothing that is pending because of other data', () => {
  const clusterState = afterGap();
  clusterState.sourceWritten(seenSource('cm', 140, 'B'), CONFIG_MAPS);
  expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  expect(doubtsOf(clusterState)).toEqual([]);
});

it('settles all users of a source at once', () => {
  const workloads = Array.from({ length: 100 }, (_, n) => `web-${n}`);
  const clusterState = afterGap({ workloads });
  expect(clusterState.pending.size).toBe(100);
  settle(clusterState, sourceRow(120, 'A', { dataRv: '10' }));
  expect(clusterState.pending.size).toBe(0);
});

it('reads at most 500 sources at once, and evaluates each workload once', () => {
  const sources = Array.from({ length: 600 }, (_, n) => `cm-${n}`);
  const clusterState = afterGap({ workloads: ['web', 'api'], sources });
  const portions = [...clusterState.doubts.sources()];
  expect(Math.max(...portions.map(({ length }) => length))).toBeLessThanOrEqual(500);
  expect(new Set(portions.flat()).size).toBe(600);
  const row = sourceRow(120, 'A', { dataRv: '10' });
  clusterState.doubts.settleSources(new Map(portions.flat().map((key) => [key, row])));
  const before = work.sourceLookups;
  inOneGo(clusterState.doubts.judge());
  expect(work.sourceLookups - before).toBe(2 * 600);
  expect(clusterState.pending.size).toBe(0);
});

it('reads no source that is recorded and no dependency any more', () => {
  const clusterState = afterGap({ sources: ['cm', 'gone'] });
  expect(doubtsOf(clusterState)).toEqual([CM, 'ConfigMap/ns/gone']);
  const record = recordOf(allA(['cm', 'gone']));
  clusterState.workloadWritten(seenWorkload('web', 140, { template: 't2', uses: ['ConfigMap/cm'], record }));
  expect(doubtsOf(clusterState)).toEqual([CM]);
});
