import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotation-keys.ts';
import { AUTO, recordOf, seenSource, seenWorkload, sourceRow, workloadRow } from '../testing/rows.ts';
import type { Contest } from './contest.ts';
import { Ledger } from './ledger.ts';
import type { Listed } from './listed.ts';
import type { ObservedSource, ObservedWorkload, SourceRow, WorkloadRow } from './rows.ts';

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const CM = 'ConfigMap/ns/cm';
const WEB = 'Deployment/ns/web';

interface Known {
  sources?: ObservedSource[];
  workloads?: ObservedWorkload[];
  sourceRows?: Record<string, SourceRow>;
  workloadRows?: Record<string, WorkloadRow>;
  rv?: number;
  adoptedAt?: number;
}

function listed<Seen, Row>(
  objects: Seen[],
  rows: Record<string, Row>,
  rv: number,
): Omit<Listed<Seen, Row>, 'scope'> {
  return { rv: String(rv), objects, catalog: new Map(Object.entries(rows)) };
}

/** A ledger that has listed what is given, with an empty outbox. */
function ledgerOf({
  sources = [],
  workloads = [],
  sourceRows = {},
  workloadRows = {},
  rv = 100,
  adoptedAt = 50,
}: Known = {}): Ledger {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const ledger = new Ledger({ decision, adoptedAt });
  ledger.sourcesListed({ ...listed(sources, sourceRows, rv), scope: SOURCES });
  ledger.workloadListBegins(WORKLOADS);
  ledger.workloadsListed({ ...listed(workloads, workloadRows, rv), scope: WORKLOADS });
  return ledger;
}

/** The same after its first wakes were sent. */
function settled(known: Known = {}): Ledger {
  const ledger = ledgerOf(known);
  ledger.outbox.clear();
  return ledger;
}

const recorded = {
  sources: [seenSource('cm', 10, 'A')],
  workloads: [seenWorkload('web', 20, { record: recordOf({ cm: 'A' }) })],
};

function sweep(ledger: Ledger): [string, string][] {
  ledger.outbox.clear();
  for (const _ of ledger.sweep()) continue;
  return [...ledger.outbox.wakes];
}

describe('a restart by a field, under the same template', () => {
  const at = (restartAt: number) => ({ restartAt, record: recordOf({ cm: 'A' }) });
  const restartedOnce = {
    sources: [seenSource('cm', 10, 'A')],
    workloads: [seenWorkload('web', 20, at(1_000))],
  };

  it('that comes after a change of the source has brought it: nothing is owed', () => {
    const ledger = settled(restartedOnce);
    ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    ledger.workloadWritten(seenWorkload('web', 120, at(1_001)));
    expect(ledger.workloads.get(WEB)).toMatchObject({ templateRv: '120', restartAt: 1_001 });
    expect(ledger.unsettled.get(WEB)?.cause).toBe('correct');
  });

  it.each([
    ['is taken away', 0],
    ['is set back', 999],
  ])('that %s brings nothing: the change is still owed', (_sentence, restartAt) => {
    const ledger = settled(restartedOnce);
    ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    ledger.workloadWritten(seenWorkload('web', 120, at(restartAt)));
    expect(ledger.unsettled.get(WEB)?.cause).toBe('owed');
  });

  it('that is taken away and set to what it was brings nothing either', () => {
    const ledger = settled(restartedOnce);
    ledger.workloadWritten(seenWorkload('web', 110, at(0)));
    ledger.sourceWritten(seenSource('cm', 120, 'B'), SOURCES);
    ledger.workloadWritten(seenWorkload('web', 130, at(1_000)));
    expect(ledger.unsettled.get(WEB)?.cause).toBe('owed');
  });
});

describe('a live write of a source', () => {
  it('with other data makes one change job and moves dataRv', () => {
    const ledger = settled(recorded);
    ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    expect([...ledger.outbox.changes]).toEqual([CM]);
    expect(ledger.sources.get(CM)).toMatchObject({ hash: '1.B', rv: '110', dataRv: '110' });
    expect(ledger.unsettled.get(WEB)?.cause).toBe('owed');
  });

  it('with the same data makes no job and leaves dataRv', () => {
    const ledger = settled(recorded);
    ledger.sourceWritten(seenSource('cm', 110, 'A'), SOURCES);
    expect(ledger.outbox.changes.size + ledger.outbox.wakes.size).toBe(0);
    expect(ledger.sources.get(CM)).toMatchObject({ rv: '110', dataRv: '10' });
  });

  it('that is older than what is known is passed over', () => {
    const ledger = settled(recorded);
    ledger.sourceWritten(seenSource('cm', 9, 'Z'), SOURCES);
    expect(ledger.sources.get(CM)?.hash).toBe('1.A');
  });

  it('that makes it ignored ends its edges, and another one brings them back', () => {
    const ledger = settled(recorded);
    ledger.sourceWritten(
      seenSource('cm', 110, 'A', { annotations: { 'reloader.stakater.com/ignore': 'true' } }),
      SOURCES,
    );
    expect(ledger.workloads.get(WEB)?.edges).toEqual([]);
    ledger.sourceWritten(seenSource('cm', 111, 'A'), SOURCES);
    expect(ledger.workloads.get(WEB)?.edges).toEqual(['ConfigMap/cm']);
  });
});

describe('a source deleted and created again', () => {
  it('with the same data owes nothing', () => {
    const ledger = settled(recorded);
    ledger.sourceDeleted(CM, '110', SOURCES);
    ledger.sourceWritten(seenSource('cm', 120, 'A'), SOURCES);
    expect(ledger.sources.get(CM)?.dataRv).toBe('10');
    expect(ledger.unsettled.size).toBe(0);
  });

  it('with other data is dated by the deletion', () => {
    const ledger = settled(recorded);
    ledger.sourceDeleted(CM, '110', SOURCES);
    ledger.sourceWritten(seenSource('cm', 120, 'B'), SOURCES);
    expect(ledger.sources.get(CM)?.dataRv).toBe('110');
    expect(ledger.unsettled.get(WEB)?.cause).toBe('owed');
  });

  it('while nobody watched is found at the list, by the catalog', () => {
    const ledger = settled({ ...recorded, sources: [], sourceRows: { [CM]: sourceRow(10, 'A') } });
    expect(ledger.sources.get(CM)).toMatchObject({ exists: false, rv: '100', hash: '1.A' });
    ledger.sourceWritten(seenSource('cm', 120, 'B'), SOURCES);
    expect(ledger.sources.get(CM)?.dataRv).toBe('100');
  });
});

describe('a source that a list does not show', () => {
  const rowsKnown = (row: SourceRow): Ledger => {
    const ledger = ledgerOf();
    ledger.sourcesListed({ scope: SOURCES, rv: '200', objects: [], catalog: new Map([[CM, row]]) });
    return ledger;
  };

  it('is gone, if the catalog has it from before the list', () => {
    expect(rowsKnown(sourceRow(150, 'A')).sources.get(CM)).toMatchObject({ exists: false, rv: '200' });
  });

  it('is there as the stream says, if a leader has written of it since the list was taken', () => {
    const ledger = rowsKnown(sourceRow(210, 'A'));
    expect(ledger.sources.has(CM)).toBe(false);
    ledger.sourceWritten(seenSource('cm', 210, 'A'), SOURCES);
    expect(ledger.sources.get(CM)).toMatchObject({ exists: true, rv: '210' });
  });
});

describe('a source that appears', () => {
  it('after the list has data that could be had since the list', () => {
    const ledger = settled({ workloads: [seenWorkload('web', 20)] });
    ledger.sourceWritten(seenSource('cm', 110, 'A'), SOURCES);
    expect(ledger.sources.get(CM)?.dataRv).toBe('100');
    expect([...ledger.outbox.wakes]).toEqual([[WEB, 'correct']]);
  });

  it('gives an edge to a workload that names it by pattern, from then on', () => {
    const named = seenWorkload('web', 20, {
      uses: [],
      annotations: { 'configmap.reloader.stakater.com/reload': 'app-.*' },
    });
    const ledger = settled({ workloads: [named] });
    expect(ledger.workloads.get(WEB)?.edges).toEqual([]);
    ledger.sourceWritten(seenSource('app-x', 110, 'A'), SOURCES);
    expect(ledger.workloads.get(WEB)).toMatchObject({
      edges: ['ConfigMap/app-x'],
      baselines: { 'ConfigMap/app-x': '110' },
    });
  });
});

describe('one upgrade that writes a source and then its workload', () => {
  it('owes no second rollout, whichever event comes first', () => {
    const upgraded = seenWorkload('web', 120, {
      template: 't2',
      generation: 2,
      record: recordOf({ cm: 'A' }),
    });
    for (const order of ['source', 'workload']) {
      const ledger = settled(recorded);
      if (order === 'source') ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
      ledger.workloadWritten(upgraded);
      if (order === 'workload') ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
      expect(ledger.unsettled.get(WEB)?.cause).toBe('correct');
      expect(ledger.workloads.get(WEB)?.doubtful).toEqual(['ConfigMap/cm']);
    }
  });

  it('and a flip back afterwards is owed, though the record agrees with it', () => {
    const ledger = settled(recorded);
    ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    ledger.workloadWritten(
      seenWorkload('web', 120, { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) }),
    );
    ledger.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(ledger.unsettled.get(WEB)?.cause).toBe('owed');
  });
});

describe('a workload', () => {
  it('without an annotation has no edges and is never woken', () => {
    const ledger = ledgerOf({
      sources: [seenSource('cm', 10, 'A')],
      workloads: [seenWorkload('web', 20, { annotations: {} })],
    });
    ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    expect(ledger.outbox.wakes.size).toBe(0);
    expect(ledger.unsettled.size).toBe(0);
  });

  it('found without a record is only recorded', () => {
    const ledger = ledgerOf({ sources: [seenSource('cm', 10, 'A')], workloads: [seenWorkload('web', 20)] });
    expect([...ledger.outbox.wakes]).toEqual([[WEB, 'correct']]);
  });

  it('found without a record is stale if its source was written after its creation, before the adoption', () => {
    const ledger = ledgerOf({
      sources: [seenSource('cm', 10, 'A', { modifiedAt: 40 })],
      workloads: [seenWorkload('web', 5, { createdAt: 30 })],
    });
    expect(ledger.workloads.get(WEB)?.stale).toEqual(['ConfigMap/cm']);
    expect(ledger.unsettled.get(WEB)?.cause).toBe('correct');
  });

  it('found without a record is owed if its source was written after the adoption and its own creation', () => {
    const ledger = ledgerOf({
      sources: [seenSource('cm', 60, 'B', { modifiedAt: 70 })],
      workloads: [seenWorkload('web', 55, { createdAt: 60 })],
    });
    expect(ledger.unsettled.get(WEB)?.cause).toBe('owed');
  });

  it.each<[string, string, number, boolean, number]>([
    ['correct, and not stale', 'in the same second, and was not written since', 60, true, 1],
    ['correct, and not stale', 'in the same second, whatever its own generation', 60, true, 3],
    ['owed', 'before and was written in that second', 60, false, 1],
    ['correct, but stale', 'after it, and was not written since', 70, true, 1],
    ['owed', 'after it and was written since', 70, false, 1],
    ['owed', 'after it, and has been changed itself', 70, true, 2],
  ])('found without a record after the adoption is %s if its source was created %s', (...of) => {
    const [expected, , modifiedAt, asCreated, generation] = of;
    const ledger = ledgerOf({
      sources: [seenSource('cm', 60, 'B', { modifiedAt, asCreated })],
      workloads: [seenWorkload('web', 65, { createdAt: 60, generation })],
    });
    const { cause } = ledger.unsettled.get(WEB) ?? {};
    const isStale = ledger.workloads.get(WEB)?.stale.includes('ConfigMap/cm');
    const words = { owed: 'owed', correct: `correct, ${isStale ? 'but' : 'and not'} stale` };
    expect(cause && words[cause]).toBe(expected);
  });

  it('found without a record is stale if its source was created in the same second, before the adoption', () => {
    const ledger = ledgerOf({
      sources: [seenSource('cm', 10, 'A', { modifiedAt: 30, asCreated: true })],
      workloads: [seenWorkload('web', 15, { createdAt: 30 })],
    });
    expect(ledger.workloads.get(WEB)?.stale).toEqual(['ConfigMap/cm']);
  });

  it('and its source that are both created while the first lists are read are only recorded', () => {
    const ledger = ledgerOf({ workloads: [seenWorkload('web', 95, { createdAt: 60 })] });
    ledger.sourceWritten(seenSource('cm', 94, 'A', { modifiedAt: 60, asCreated: true }), SOURCES);
    expect(ledger.unsettled.get(WEB)?.cause).toBe('correct');
    ledger.sourceWritten(seenSource('cm', 110, 'B', { modifiedAt: 61 }), SOURCES);
    expect(ledger.unsettled.get(WEB)?.cause).toBe('owed');
  });

  it('found as the catalog has it keeps what was known', () => {
    const row = workloadRow({ rv: '20', uid: 'uid-web', templateRv: '15', record: recordOf({ cm: 'A' }) });
    const ledger = ledgerOf({
      ...recorded,
      sourceRows: { [CM]: sourceRow(10, 'A', { dataRv: '8' }) },
      workloadRows: { [WEB]: row },
    });
    expect(ledger.workloads.get(WEB)?.templateRv).toBe('15');
    expect(ledger.sources.get(CM)?.dataRv).toBe('8');
  });

  it('found with another template than the catalog has doubts its record', () => {
    const row = workloadRow({ rv: '18', uid: 'uid-web', template: 't0', record: recordOf({ cm: 'A' }) });
    const ledger = ledgerOf({ ...recorded, workloadRows: { [WEB]: row } });
    expect(ledger.workloads.get(WEB)).toMatchObject({ templateRv: '18', doubtful: ['ConfigMap/cm'] });
  });

  it('whose record is stripped is judged by the last one seen', () => {
    const ledger = settled(recorded);
    ledger.workloadWritten(seenWorkload('web', 110));
    expect(ledger.workloads.get(WEB)?.baselines).toEqual({ 'ConfigMap/cm': '10' });
    expect(ledger.unsettled.get(WEB)?.cause).toBe('correct');
    const behind = settled(recorded);
    behind.sourceWritten(seenSource('cm', 105, 'B'), SOURCES);
    behind.workloadWritten(seenWorkload('web', 110));
    expect(behind.unsettled.get(WEB)?.cause).toBe('owed');
  });

  it.each([
    ['other data', 'B', 'owed'],
    ['the same data', 'A', 'correct'],
  ])(
    'whose record is stripped while its source is gone is judged when that is back with %s',
    (_, data, due) => {
      const ledger = settled({ ...recorded, workloads: [seenWorkload('web', 20, { record: undefined })] });
      ledger.workloadWritten(seenWorkload('web', 105, { record: recordOf({ cm: 'A' }) }));
      ledger.sourceDeleted(CM, '110', SOURCES);
      ledger.workloadWritten(seenWorkload('web', 120));
      ledger.sourceWritten(seenSource('cm', 130, data), SOURCES);
      expect(ledger.unsettled.get(WEB)?.cause).toBe(due);
    },
  );

  it.each([
    ['rolled', 'T2', 'owed'],
    ['not rolled', 'T1', 'correct'],
  ])('stripped of its record in a gap, and %s there, is owed accordingly', (_, template, due) => {
    const row = workloadRow({ rv: '20', uid: 'uid-web', template: 'T1', record: recordOf({ cm: 'A' }) });
    const ledger = ledgerOf({
      // Back at what the record said; what a worker's patch brought in between, nobody saw.
      sources: [seenSource('cm', 60, 'A')],
      workloads: [seenWorkload('web', 70, { template })],
      sourceRows: { [CM]: sourceRow(30, 'B') },
      workloadRows: { [WEB]: { ...row, templateRv: '20' } },
    });
    expect(ledger.unsettled.get(WEB)?.cause).toBe(due);
  });

  it('rolled by the write that strips its record has the data of then, though the source is back at what it said', () => {
    const ledger = settled(recorded);
    ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    ledger.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    ledger.workloadWritten(seenWorkload('web', 120, { template: 'another' }));
    expect(ledger.unsettled.get(WEB)?.cause).toBe('owed');
  });

  it('whose status is written makes no row and no wake', () => {
    const ledger = settled(recorded);
    ledger.workloadWritten(seenWorkload('web', 110, { record: recordOf({ cm: 'A' }) }));
    expect(ledger.outbox.isEmpty()).toBe(true);
    expect(ledger.workloads.get(WEB)?.rv).toBe('110');
  });

  it('that a list does not show is gone, unless it is there and could not be read', () => {
    const relist = (unread: string[]): Ledger => {
      const ledger = settled(recorded);
      ledger.workloadListBegins(WORKLOADS);
      ledger.workloadsListed({ scope: WORKLOADS, rv: '200', objects: [], unread, catalog: new Map() });
      return ledger;
    };
    expect(relist([]).workloads.has(WEB)).toBe(false);
    expect(relist([WEB]).workloads.has(WEB)).toBe(true);
  });

  it('that a list showed in a portion is there, and gone if it was deleted before the end', () => {
    const relist = (found: string[]): Ledger => {
      const ledger = settled(recorded);
      ledger.workloadListBegins(WORKLOADS);
      const objects = [seenWorkload('web', 120), seenWorkload('new', 130)];
      ledger.workloadsFound({ scope: WORKLOADS, objects, catalog: new Map() });
      expect([...ledger.workloads.keys()]).toEqual([WEB, 'Deployment/ns/new']);
      const end = { scope: WORKLOADS, rv: '200', objects: [], catalog: new Map() };
      ledger.workloadsListed({ ...end, found: new Set(found) });
      return ledger;
    };
    expect([...relist([WEB, 'Deployment/ns/new']).workloads.keys()]).toEqual([WEB, 'Deployment/ns/new']);
    expect([...relist(['Deployment/ns/new']).workloads.keys()]).toEqual(['Deployment/ns/new']);
  });

  it('that a broken list showed is taken from the catalog, if a leader has written a later row since', () => {
    const ledger = ledgerOf();
    const before = workloadRow({ uid: 'uid-web', rv: '20', template: 'T1', templateRv: '20' });
    const since = workloadRow({ uid: 'uid-web', rv: '140', template: 'T2', templateRv: '130' });
    const list = (row: WorkloadRow, seen: ObservedWorkload): void => {
      ledger.workloadListBegins(WORKLOADS);
      ledger.workloadsFound({ scope: WORKLOADS, objects: [seen], catalog: new Map([[WEB, row]]) });
    };
    list(before, seenWorkload('web', 20, { template: 'T1' }));
    list(since, seenWorkload('web', 150, { template: 'T2' }));
    expect(ledger.workloads.get(WEB)).toMatchObject({ rv: '150', templateRv: '130' });
  });

  it('is not contested by strips that the stream is still to show, because the catalog is ahead of the list', () => {
    const contest = { before: ['t1'], strips: [100, 200] };
    const row = workloadRow({ uid: 'uid-web', rv: '140', record: recordOf({ cm: 'B' }), contest });
    const contestOf = (seenAt: number): Contest | undefined => {
      const ledger = ledgerOf();
      ledger.workloadListBegins(WORKLOADS);
      const objects = [seenWorkload('web', seenAt, { record: recordOf({ cm: 'B' }) })];
      ledger.workloadsFound({ scope: WORKLOADS, objects, catalog: new Map([[WEB, row]]) });
      return ledger.workloads.get(WEB)?.contest;
    };
    expect(contestOf(140)).toEqual(contest);
    expect(contestOf(20)).toBeUndefined();
  });

  it('of another namespace is not touched by the list of one', () => {
    const ledger = settled(recorded);
    ledger.workloadListBegins({ ...WORKLOADS, namespace: 'other' });
    ledger.workloadsListed({
      scope: { ...WORKLOADS, namespace: 'other' },
      rv: '200',
      objects: [],
      catalog: new Map(),
    });
    expect(ledger.workloads.has(WEB)).toBe(true);
  });
});

describe('a sweep', () => {
  it('wakes what is owed after 1, 2, 4 … sweeps', () => {
    const ledger = settled(recorded);
    ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    const woken = Array.from({ length: 16 }, () => sweep(ledger).length);
    expect(woken).toEqual([1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
  });

  it('begins anew after another change, and after the catalog was lost', () => {
    const ledger = settled(recorded);
    ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    for (let n = 0; n < 5; n += 1) sweep(ledger);
    ledger.sourceWritten(seenSource('cm', 120, 'C'), SOURCES);
    expect(sweep(ledger)).toEqual([[WEB, 'owed']]);
    for (let n = 0; n < 5; n += 1) sweep(ledger);
    ledger.assertAll();
    expect(ledger.outbox.takeWorkloads(10)).toEqual([WEB]);
    expect(sweep(ledger)).toEqual([[WEB, 'owed']]);
  });

  it('wakes nothing that is settled', () => {
    expect(sweep(settled(recorded))).toEqual([]);
  });
});

describe('a pause that a reload began', () => {
  const paused = seenWorkload('web', 20, { resumeAt: 1_000 });

  it('is told of when it is seen, and by every sweep until it is over', () => {
    const ledger = settled({ workloads: [seenWorkload('web', 10)] });
    ledger.workloadWritten(paused);
    expect([...ledger.outbox.resumes]).toEqual([WEB]);
    for (let n = 0; n < 2; n += 1) {
      ledger.outbox.clear();
      sweep(ledger);
      expect([...ledger.outbox.resumes]).toEqual([WEB]);
      ledger.outbox.clear();
    }
    ledger.workloadWritten(seenWorkload('web', 30));
    sweep(ledger);
    expect([...ledger.outbox.resumes]).toEqual([]);
  });

  it('changes no pod template: nothing is due by it', () => {
    const ledger = settled({ workloads: [seenWorkload('web', 10)] });
    const before = ledger.workloads.get(WEB)?.templateRv;
    ledger.workloadWritten(paused);
    expect(ledger.workloads.get(WEB)?.templateRv).toBe(before);
  });
});

describe('a workload that is left alone', () => {
  const twin = seenWorkload('twin', 20, { leftAlone: 'JobTwin', annotations: {} });

  it('has no edges, and its sources owe it nothing', () => {
    const seen = seenWorkload('web', 20, { leftAlone: 'JobFinished', record: recordOf({ cm: 'A' }) });
    const ledger = settled({ ...recorded, workloads: [seen] });
    ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    expect(ledger.workloads.get(WEB)?.edges).toEqual([]);
    expect(ledger.unsettled.size).toBe(0);
  });

  it('begins to be when it is finished, though it was owed', () => {
    const ledger = settled(recorded);
    ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    expect(ledger.unsettled.has(WEB)).toBe(true);
    ledger.workloadWritten(
      seenWorkload('web', 120, { leftAlone: 'JobFinished', record: recordOf({ cm: 'A' }) }),
    );
    expect(ledger.unsettled.has(WEB)).toBe(false);
  });

  it('as the twin of a Job is woken when it is seen, and by sweeps for as long as it is there', () => {
    const ledger = ledgerOf({ workloads: [twin] });
    expect([...ledger.outbox.wakes]).toEqual([[twin.key, 'owed']]);
    expect(sweep(ledger)).toEqual([[twin.key, 'owed']]);
    ledger.workloadDeleted(twin.key);
    expect(ledger.unsettled.size).toBe(0);
    expect(sweep(ledger)).toEqual([]);
  });
});

describe('the index', () => {
  it('finds a workload under what it uses, names, mentions and has recorded', () => {
    const web = seenWorkload('web', 20, {
      mentions: ['Secret/unmounted'],
      annotations: { ...AUTO, 'secret.reloader.stakater.com/reload': 'db' },
      record: recordOf({ old: 'A' }),
    });
    const ledger = settled({ workloads: [web] });
    expect([...ledger.sourcesOf(WEB)].sort()).toEqual([
      CM,
      'ConfigMap/ns/old',
      'Secret/ns/db',
      'Secret/ns/unmounted',
    ]);
  });
});
