import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotation-keys.ts';
import { DELETED_HASH } from '../record/record-hash.ts';
import { writeRecord } from '../record/record.ts';
import { recordOf, seenSource, seenWorkload, sourceRow, workloadRow } from '../testing/rows.ts';
import { Ledger } from './ledger.ts';
import type { ObservedSource, ObservedWorkload, SourceRow, WorkloadRow } from './rows.ts';
import { NO_TRIGGERS, type Triggers } from './triggers.ts';

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const CM = 'ConfigMap/ns/cm';
const WEB = 'Deployment/ns/web';
const ON_CREATE: Triggers = { ...NO_TRIGGERS, onCreate: true };
const ON_DELETE: Triggers = { ...NO_TRIGGERS, onDelete: 'always' };
const IF_MARKED: Triggers = { ...NO_TRIGGERS, onDelete: 'marked' };
const RECORDED = seenWorkload('web', 20, { record: recordOf({ cm: 'A' }) });
const LOST = writeRecord({ 'ConfigMap/cm': DELETED_HASH });

interface Known {
  sources?: ObservedSource[];
  workloads?: ObservedWorkload[];
  sourceRows?: Record<string, SourceRow>;
  workloadRows?: Record<string, WorkloadRow>;
}

function ledgerOf(triggers: Triggers, known: Known = {}): Ledger {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const ledger = new Ledger({ decision, adoptedAt: 50, triggers });
  const { sources = [], workloads = [], sourceRows = {}, workloadRows = {} } = known;
  const catalogOf = <Row>(rows: Record<string, Row>): Map<string, Row> => new Map(Object.entries(rows));
  ledger.sourcesListed({ scope: SOURCES, rv: '100', objects: sources, catalog: catalogOf(sourceRows) });
  ledger.workloadListBegins(WORKLOADS);
  const catalog = catalogOf(workloadRows);
  ledger.workloadsListed({ scope: WORKLOADS, rv: '100', objects: workloads, catalog });
  ledger.outbox.clear();
  return ledger;
}

const due = (ledger: Ledger): string | undefined => ledger.unsettled.get(WEB)?.cause;

describe('a source that comes to exist', () => {
  it.each<[string, ObservedWorkload]>([
    ['listed', seenWorkload('web', 20)],
    ['listed, and younger than the adoption', seenWorkload('web', 20, { createdAt: 60 })],
    [
      'naming it by pattern',
      seenWorkload('web', 20, { uses: [], annotations: { 'configmap.reloader.stakater.com/reload': 'c.*' } }),
    ],
  ])('is owed to a workload found without it, %s, only if creations count', (_how, workload) => {
    const created = seenSource('cm', 130, 'A');
    const with_ = ledgerOf(ON_CREATE, { workloads: [workload] });
    with_.sourceWritten(created, SOURCES);
    expect(due(with_)).toBe('owed');
    expect(with_.outbox.wakes.has(WEB)).toBe(true);
  });

  it('is owed to a workload that was written before it, and not to one written after it', () => {
    const before = ledgerOf(ON_CREATE);
    before.workloadWritten(seenWorkload('web', 120));
    before.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(due(before)).toBe('owed');
    const after = ledgerOf(ON_CREATE);
    after.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    after.workloadWritten(seenWorkload('web', 140));
    expect(due(after)).toBe('correct');
  });

  it('is only recorded if creations do not count', () => {
    const ledger = ledgerOf(NO_TRIGGERS);
    ledger.workloadWritten(seenWorkload('web', 120));
    ledger.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(due(ledger)).toBe('correct');
  });

  it('is owed once: what is written of its metadata later is no creation', () => {
    const ledger = ledgerOf(ON_CREATE);
    ledger.workloadWritten(seenWorkload('web', 120));
    ledger.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    const rolled = { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) };
    ledger.workloadWritten(seenWorkload('web', 140, rolled));
    ledger.sourceWritten(seenSource('cm', 150, 'A'), SOURCES);
    expect(due(ledger)).toBeUndefined();
  });

  it('is owed with the same data as before to a workload whose owner rolled it while the source was away', () => {
    for (const triggers of [ON_CREATE, NO_TRIGGERS]) {
      const ledger = ledgerOf(triggers, { sources: [seenSource('cm', 10, 'A')], workloads: [RECORDED] });
      ledger.sourceDeleted(CM, '110', SOURCES);
      const rolled = { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) };
      ledger.workloadWritten(seenWorkload('web', 120, rolled));
      ledger.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
      expect(due(ledger)).toBe(triggers.onCreate ? 'owed' : undefined);
    }
  });

  it('is owed also if the rollout, and its record, were seen before the deletion that they came after', () => {
    const ledger = ledgerOf(ON_CREATE, { sources: [seenSource('cm', 10, 'A')], workloads: [RECORDED] });
    ledger.workloadWritten(
      seenWorkload('web', 120, { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) }),
    );
    ledger.sourceDeleted(CM, '110', SOURCES);
    ledger.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(due(ledger)).toBe('owed');
  });

  it('with the same data as before is nothing to a workload that was last rolled before it went', () => {
    const ledger = ledgerOf(ON_CREATE, { sources: [seenSource('cm', 10, 'A')], workloads: [RECORDED] });
    ledger.workloadWritten(
      seenWorkload('web', 110, { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) }),
    );
    ledger.sourceDeleted(CM, '120', SOURCES);
    ledger.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(due(ledger)).toBeUndefined();
  });

  it('nor if that rollout was seen after the deletion that it came before', () => {
    const ledger = ledgerOf(ON_CREATE, { sources: [seenSource('cm', 10, 'A')], workloads: [RECORDED] });
    ledger.sourceDeleted(CM, '120', SOURCES);
    ledger.workloadWritten(
      seenWorkload('web', 110, { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) }),
    );
    ledger.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(due(ledger)).toBeUndefined();
  });

  it('and existed at the start is stale to nobody whose pods were replaced since', () => {
    const found = {
      sources: [seenSource('cm', 10, 'A', { modifiedAt: 10 })],
      workloads: [seenWorkload('web', 20, { createdAt: 30 })],
    };
    const ledger = ledgerOf({ ...ON_CREATE, afterRestart: true }, found);
    ledger.workloadWritten(seenWorkload('web', 120, { generation: 2 }));
    expect(ledger.workloads.get(WEB)?.stale).toEqual(['ConfigMap/cm']);
    ledger.workloadWritten(seenWorkload('web', 130, { generation: 3, template: 't2' }));
    expect(ledger.workloads.get(WEB)?.stale).toEqual([]);
  });

  it('and existed at the start is stale to whom has no record of it, if a start counts as a creation', () => {
    const found = {
      sources: [seenSource('cm', 10, 'A', { modifiedAt: 10 })],
      workloads: [seenWorkload('web', 20, { createdAt: 30 })],
    };
    const synced = ledgerOf({ ...ON_CREATE, afterRestart: true }, found);
    expect(synced.workloads.get(WEB)?.stale).toEqual(['ConfigMap/cm']);
    expect(due(synced)).toBe('correct');
    for (const triggers of [ON_CREATE, { ...NO_TRIGGERS, afterRestart: true }]) {
      expect(ledgerOf(triggers, found).workloads.get(WEB)?.stale).toEqual([]);
    }
  });

  it('and existed at the start is nothing to whom has it recorded', () => {
    const found = { sources: [seenSource('cm', 10, 'A')], workloads: [RECORDED] };
    expect(due(ledgerOf({ ...ON_CREATE, afterRestart: true }, found))).toBeUndefined();
  });
});

describe('a change job, if changes are announced,', () => {
  const ANNOUNCED: Triggers = { ...ON_CREATE, onDelete: 'marked', announced: true };
  const jobsOf = (triggers: Triggers, happens: (ledger: Ledger) => void): string[] => {
    const ledger = ledgerOf(triggers, { sources: [seenSource('cm', 10, 'A')] });
    happens(ledger);
    return [...ledger.outbox.changes];
  };
  const NEW = 'ConfigMap/ns/new';
  const created = (ledger: Ledger): void => ledger.sourceWritten(seenSource('new', 110, 'A'), SOURCES);
  const deleted = (ledger: Ledger): void => ledger.sourceDeleted(CM, '110', SOURCES);
  const gone = (ledger: Ledger): void =>
    ledger.sourcesListed({ scope: SOURCES, rv: '110', objects: [], catalog: new Map() });

  it.each<[string, (ledger: Ledger) => void, Triggers, string[]]>([
    ['comes of a creation', created, ANNOUNCED, [NEW]],
    ['comes of no creation if those do not count', created, { ...ANNOUNCED, onCreate: false }, []],
    ['comes of a deletion', deleted, ANNOUNCED, [CM]],
    ['comes of a deletion that a list shows', gone, ANNOUNCED, [CM]],
    ['comes of no deletion if those do not count', deleted, { ...ANNOUNCED, onDelete: 'never' }, []],
    ['comes of neither if nothing is announced', created, { ...ANNOUNCED, announced: false }, []],
    ['comes of neither if nothing is announced', deleted, { ...ANNOUNCED, announced: false }, []],
  ])('%s', (_, happens, triggers, expected) => {
    expect(jobsOf(triggers, happens)).toEqual(expected);
  });

  it('finds a source created as long as it has the data of its creation', () => {
    const ledger = ledgerOf(ANNOUNCED, { sources: [seenSource('cm', 10, 'A')] });
    const isCreated = (key: string): boolean => ledger.sources.get(key)?.created === true;
    created(ledger);
    ledger.sourceWritten(seenSource('new', 120, 'A'), SOURCES);
    expect([isCreated(NEW), isCreated(CM)]).toEqual([true, false]);
    ledger.sourceWritten(seenSource('new', 130, 'B'), SOURCES);
    ledger.sourceWritten(seenSource('new', 140, 'A'), SOURCES);
    expect(isCreated(NEW)).toBe(false);
    ledger.sourceDeleted(NEW, '150', SOURCES);
    ledger.sourceWritten(seenSource('new', 160, 'A'), SOURCES);
    expect(isCreated(NEW)).toBe(true);
  });
});

describe('a source that is deleted', () => {
  const found = { sources: [seenSource('cm', 10, 'A')], workloads: [RECORDED] };

  it('is owed to a workload that has it recorded, and wakes it, only if deletions count', () => {
    const ledger = ledgerOf(ON_DELETE, found);
    ledger.sourceDeleted(CM, '110', SOURCES);
    expect([...ledger.outbox.wakes]).toEqual([[WEB, 'owed']]);
    const without = ledgerOf(NO_TRIGGERS, found);
    without.sourceDeleted(CM, '110', SOURCES);
    expect(due(without)).toBeUndefined();
    expect(without.outbox.wakes.size).toBe(0);
  });

  it('is owed if a later list no longer shows it', () => {
    const ledger = ledgerOf(ON_DELETE, found);
    ledger.sourcesListed({ scope: SOURCES, rv: '150', objects: [], catalog: new Map() });
    expect(due(ledger)).toBe('owed');
  });

  it('is owed if it went while no watcher was there, as the catalog knew it', () => {
    const ledger = ledgerOf(ON_DELETE, { workloads: [RECORDED], sourceRows: { [CM]: sourceRow(10, 'A') } });
    expect(due(ledger)).toBe('owed');
  });

  it.each<[string, Known, (ledger: Ledger) => void]>([
    ['that a list found', { ...found, workloads: [seenWorkload('web', 20)] }, () => undefined],
    ['that was just created', found, (ledger) => ledger.workloadWritten(seenWorkload('web', 105))],
    [
      'that names it by pattern',
      {
        ...found,
        workloads: [
          seenWorkload('web', 20, {
            uses: [],
            annotations: { 'configmap.reloader.stakater.com/reload': 'c.*' },
          }),
        ],
      },
      () => undefined,
    ],
  ])('is owed to a workload %s, before it is recorded', (_how, known, happens) => {
    const ledger = ledgerOf(ON_DELETE, { ...known, workloads: known.workloads ?? [] });
    happens(ledger);
    ledger.sourceDeleted(CM, '110', SOURCES);
    expect(due(ledger)).toBe('owed');
    expect(ledger.outbox.wakes.get(WEB)).toBe('owed');
  });

  it('is nothing to a workload that was created after it', () => {
    const ledger = ledgerOf(ON_DELETE, { sources: found.sources });
    ledger.sourceDeleted(CM, '110', SOURCES);
    ledger.workloadWritten(seenWorkload('web', 120));
    expect(due(ledger)).toBeUndefined();
  });

  it('is owed to a workload whose creation is seen after the deletion that it came before', () => {
    const ledger = ledgerOf(ON_DELETE, { sources: found.sources });
    ledger.sourceDeleted(CM, '110', SOURCES);
    ledger.workloadWritten(seenWorkload('web', 105));
    expect(due(ledger)).toBe('owed');
  });

  it('and never was there is nothing to a workload that names it', () => {
    const ledger = ledgerOf(ON_DELETE, { workloads: [seenWorkload('web', 20)] });
    ledger.sourceDeleted(CM, '110', SOURCES);
    expect(due(ledger)).toBeUndefined();
  });

  it("is only recorded if the owner's own rollout came after it", () => {
    const ledger = ledgerOf(ON_DELETE, found);
    ledger.sourceDeleted(CM, '110', SOURCES);
    const rolled = { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) };
    ledger.workloadWritten(seenWorkload('web', 120, rolled));
    expect(due(ledger)).toBe('correct');
  });

  it('is settled once it is recorded as deleted', () => {
    const ledger = ledgerOf(ON_DELETE, found);
    ledger.sourceDeleted(CM, '110', SOURCES);
    ledger.workloadWritten(seenWorkload('web', 120, { template: 't2', generation: 2, record: LOST }));
    expect(due(ledger)).toBeUndefined();
  });

  it.each(['A', 'B'])('and comes back with %s is owed again only if creations count', (data) => {
    for (const onCreate of [true, false]) {
      const ledger = ledgerOf({ ...ON_DELETE, onCreate }, found);
      ledger.sourceDeleted(CM, '110', SOURCES);
      ledger.workloadWritten(seenWorkload('web', 120, { template: 't2', generation: 2, record: LOST }));
      ledger.sourceWritten(seenSource('cm', 130, data), SOURCES);
      expect(due(ledger)).toBe(onCreate ? 'owed' : 'correct');
    }
  });

  it('where only its variable could tell, is owed to a marked workload alone; the other rolls for other data', () => {
    const marks = ['STAKATER_CM_CONFIGMAP'];
    const marked = ledgerOf(IF_MARKED, { ...found, workloads: [{ ...RECORDED, marks }] });
    marked.sourceDeleted(CM, '110', SOURCES);
    expect(due(marked)).toBe('owed');
    const unmarked = ledgerOf(IF_MARKED, found);
    unmarked.sourceDeleted(CM, '110', SOURCES);
    expect(due(unmarked)).toBeUndefined();
    unmarked.sourceWritten(seenSource('cm', 120, 'A'), SOURCES);
    expect(due(unmarked)).toBeUndefined();
    unmarked.sourceDeleted(CM, '130', SOURCES);
    unmarked.sourceWritten(seenSource('cm', 140, 'B'), SOURCES);
    expect(due(unmarked)).toBe('owed');
  });

  it('is known as such after a restart too', () => {
    const gone = sourceRow(90, 'A', { exists: false });
    const row = workloadRow({ rv: '20', uid: 'uid-web', templateRv: '95', record: RECORDED.record });
    const after = { workloads: [RECORDED], sourceRows: { [CM]: gone }, workloadRows: { [WEB]: row } };
    expect(due(ledgerOf(ON_DELETE, after))).toBe('correct');
    const earlier = { ...after, workloadRows: { [WEB]: { ...row, templateRv: '80' } } };
    expect(due(ledgerOf(ON_DELETE, earlier))).toBe('owed');
  });
});
