import type { SourceKey } from '../model.ts';
import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { DELETED_HASH } from '../record/record-hash.ts';
import { writeRecord } from '../record/record.ts';
import { recordOf, seenSource, seenWorkload, sourceRow, workloadRow } from '../testing/rows.ts';
import { ClusterState } from './cluster-state.ts';
import type { ObservedSource, ObservedWorkload, SourceRow, WorkloadRow } from './rows.ts';
import { NO_TRIGGERS, type Triggers } from './settings.ts';

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

function clusterStateOf(triggers: Triggers, known: Known = {}): ClusterState {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 50, triggers });
  const { sources = [], workloads = [], sourceRows = {}, workloadRows = {} } = known;
  const catalogOf = <Row>(rows: Record<string, Row>): Map<string, Row> => new Map(Object.entries(rows));
  clusterState.sourcesListed({ scope: SOURCES, rv: '100', objects: sources, catalog: catalogOf(sourceRows) });
  clusterState.workloadListBegins(WORKLOADS);
  const catalog = catalogOf(workloadRows);
  clusterState.workloadsListed({ scope: WORKLOADS, rv: '100', objects: workloads, catalog });
  clusterState.outbox.clear();
  return clusterState;
}

const pending = (clusterState: ClusterState): string | undefined => clusterState.pending.get(WEB)?.cause;

describe('a source that comes to exist', () => {
  it.each<[string, ObservedWorkload]>([
    ['listed', seenWorkload('web', 20)],
    ['listed, and younger than the adoption', seenWorkload('web', 20, { createdAt: 60 })],
    [
      'naming it by pattern',
      seenWorkload('web', 20, { uses: [], annotations: { 'configmap.reloader.stakater.com/reload': 'c.*' } }),
    ],
  ])('is pending for a workload found without it, %s, only if creations count', (_how, workload) => {
    const created = seenSource('cm', 130, 'A');
    const with_ = clusterStateOf(ON_CREATE, { workloads: [workload] });
    with_.sourceWritten(created, SOURCES);
    expect(pending(with_)).toBe('owed');
    expect(with_.outbox.reloads.has(WEB)).toBe(true);
  });

  it('is pending for a workload that was written before it, and not to one written after it', () => {
    const before = clusterStateOf(ON_CREATE);
    before.workloadWritten(seenWorkload('web', 120));
    before.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(pending(before)).toBe('owed');
    const after = clusterStateOf(ON_CREATE);
    after.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    after.workloadWritten(seenWorkload('web', 140));
    expect(pending(after)).toBe('correct');
  });

  it('is only recorded if creations do not count', () => {
    const clusterState = clusterStateOf(NO_TRIGGERS);
    clusterState.workloadWritten(seenWorkload('web', 120));
    clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(pending(clusterState)).toBe('correct');
  });

  it('is pending once: what is written of its metadata later is no creation', () => {
    const clusterState = clusterStateOf(ON_CREATE);
    clusterState.workloadWritten(seenWorkload('web', 120));
    clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    const rolled = { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) };
    clusterState.workloadWritten(seenWorkload('web', 140, rolled));
    clusterState.sourceWritten(seenSource('cm', 150, 'A'), SOURCES);
    expect(pending(clusterState)).toBeUndefined();
  });

  it('is pending with the same data as before to a workload whose owner rolled it while the source was away', () => {
    for (const triggers of [ON_CREATE, NO_TRIGGERS]) {
      const clusterState = clusterStateOf(triggers, {
        sources: [seenSource('cm', 10, 'A')],
        workloads: [RECORDED],
      });
      clusterState.sourceDeleted(CM, '110', SOURCES);
      const rolled = { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) };
      clusterState.workloadWritten(seenWorkload('web', 120, rolled));
      clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
      expect(pending(clusterState)).toBe(triggers.onCreate ? 'owed' : undefined);
    }
  });

  it('is pending also if the rollout, and its record, were seen before the deletion that they came after', () => {
    const clusterState = clusterStateOf(ON_CREATE, {
      sources: [seenSource('cm', 10, 'A')],
      workloads: [RECORDED],
    });
    clusterState.workloadWritten(
      seenWorkload('web', 120, { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) }),
    );
    clusterState.sourceDeleted(CM, '110', SOURCES);
    clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(pending(clusterState)).toBe('owed');
  });

  it('with the same data as before is nothing to a workload that was last rolled before it went', () => {
    const clusterState = clusterStateOf(ON_CREATE, {
      sources: [seenSource('cm', 10, 'A')],
      workloads: [RECORDED],
    });
    clusterState.workloadWritten(
      seenWorkload('web', 110, { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) }),
    );
    clusterState.sourceDeleted(CM, '120', SOURCES);
    clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(pending(clusterState)).toBeUndefined();
  });

  it('nor if that rollout was seen after the deletion that it came before', () => {
    const clusterState = clusterStateOf(ON_CREATE, {
      sources: [seenSource('cm', 10, 'A')],
      workloads: [RECORDED],
    });
    clusterState.sourceDeleted(CM, '120', SOURCES);
    clusterState.workloadWritten(
      seenWorkload('web', 110, { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) }),
    );
    clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(pending(clusterState)).toBeUndefined();
  });

  it('and existed at the start is stale to nobody whose pods were replaced since', () => {
    const found = {
      sources: [seenSource('cm', 10, 'A', { modifiedAt: 10 })],
      workloads: [seenWorkload('web', 20, { createdAt: 30 })],
    };
    const clusterState = clusterStateOf({ ...ON_CREATE, afterRestart: true }, found);
    clusterState.workloadWritten(seenWorkload('web', 120, { generation: 2 }));
    expect(clusterState.workloads.get(WEB)?.stale).toEqual(['ConfigMap/cm']);
    clusterState.workloadWritten(seenWorkload('web', 130, { generation: 3, template: 't2' }));
    expect(clusterState.workloads.get(WEB)?.stale).toEqual([]);
  });

  it('and existed at the start is stale to whom has no record of it, if a start counts as a creation', () => {
    const found = {
      sources: [seenSource('cm', 10, 'A', { modifiedAt: 10 })],
      workloads: [seenWorkload('web', 20, { createdAt: 30 })],
    };
    const synced = clusterStateOf({ ...ON_CREATE, afterRestart: true }, found);
    expect(synced.workloads.get(WEB)?.stale).toEqual(['ConfigMap/cm']);
    expect(pending(synced)).toBe('correct');
    for (const triggers of [ON_CREATE, { ...NO_TRIGGERS, afterRestart: true }]) {
      expect(clusterStateOf(triggers, found).workloads.get(WEB)?.stale).toEqual([]);
    }
  });

  it.each<[string, string, number]>([
    ['owed', 'later', 70],
    ['correct', 'earlier', 60],
  ])(
    'found by the first lists is %s to a workload of its second with an %s resourceVersion',
    (cause, _, rv) => {
      const found = {
        sources: [seenSource('cm', rv, 'A', { modifiedAt: 60, asCreated: true })],
        workloads: [seenWorkload('web', 65, { createdAt: 60 })],
      };
      expect(pending(clusterStateOf(ON_CREATE, found))).toBe(cause);
    },
  );

  it('and existed at the start is nothing to whom has it recorded', () => {
    const found = { sources: [seenSource('cm', 10, 'A')], workloads: [RECORDED] };
    expect(pending(clusterStateOf({ ...ON_CREATE, afterRestart: true }, found))).toBeUndefined();
  });
});

describe('a change job, if changes are announced,', () => {
  const ANNOUNCED: Triggers = { ...ON_CREATE, onDelete: 'marked', announced: true };
  const jobsOf = (triggers: Triggers, happens: (clusterState: ClusterState) => void): string[] => {
    const clusterState = clusterStateOf(triggers, { sources: [seenSource('cm', 10, 'A')] });
    happens(clusterState);
    return [...clusterState.outbox.changes];
  };
  const NEW = 'ConfigMap/ns/new';
  const created = (clusterState: ClusterState): void =>
    clusterState.sourceWritten(seenSource('new', 110, 'A'), SOURCES);
  const deleted = (clusterState: ClusterState): void => clusterState.sourceDeleted(CM, '110', SOURCES);
  const gone = (clusterState: ClusterState): void =>
    clusterState.sourcesListed({ scope: SOURCES, rv: '110', objects: [], catalog: new Map() });

  it.each<[string, (clusterState: ClusterState) => void, Triggers, string[]]>([
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
    const clusterState = clusterStateOf(ANNOUNCED, { sources: [seenSource('cm', 10, 'A')] });
    const isCreated = (key: SourceKey): boolean => clusterState.sources.get(key)?.created === true;
    created(clusterState);
    clusterState.sourceWritten(seenSource('new', 120, 'A'), SOURCES);
    expect([isCreated(NEW), isCreated(CM)]).toEqual([true, false]);
    clusterState.sourceWritten(seenSource('new', 130, 'B'), SOURCES);
    clusterState.sourceWritten(seenSource('new', 140, 'A'), SOURCES);
    expect(isCreated(NEW)).toBe(false);
    clusterState.sourceDeleted(NEW, '150', SOURCES);
    clusterState.sourceWritten(seenSource('new', 160, 'A'), SOURCES);
    expect(isCreated(NEW)).toBe(true);
  });
});

describe('a source that is deleted', () => {
  const found = { sources: [seenSource('cm', 10, 'A')], workloads: [RECORDED] };

  it('is pending for a workload that has it recorded, and enqueues it, only if deletions count', () => {
    const clusterState = clusterStateOf(ON_DELETE, found);
    clusterState.sourceDeleted(CM, '110', SOURCES);
    expect([...clusterState.outbox.reloads]).toEqual([[WEB, 'owed']]);
    const without = clusterStateOf(NO_TRIGGERS, found);
    without.sourceDeleted(CM, '110', SOURCES);
    expect(pending(without)).toBeUndefined();
    expect(without.outbox.reloads.size).toBe(0);
  });

  it('is pending if a later list no longer shows it', () => {
    const clusterState = clusterStateOf(ON_DELETE, found);
    clusterState.sourcesListed({ scope: SOURCES, rv: '150', objects: [], catalog: new Map() });
    expect(pending(clusterState)).toBe('owed');
  });

  it('is pending if it went while no watcher was there, as the catalog knew it', () => {
    const clusterState = clusterStateOf(ON_DELETE, {
      workloads: [RECORDED],
      sourceRows: { [CM]: sourceRow(10, 'A') },
    });
    expect(pending(clusterState)).toBe('owed');
  });

  it.each<[string, Known, (clusterState: ClusterState) => void]>([
    ['that a list found', { ...found, workloads: [seenWorkload('web', 20)] }, () => undefined],
    [
      'that was just created',
      found,
      (clusterState) => clusterState.workloadWritten(seenWorkload('web', 105)),
    ],
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
  ])('is pending for a workload %s, before it is recorded', (_how, known, happens) => {
    const clusterState = clusterStateOf(ON_DELETE, { ...known, workloads: known.workloads ?? [] });
    happens(clusterState);
    clusterState.sourceDeleted(CM, '110', SOURCES);
    expect(pending(clusterState)).toBe('owed');
    expect(clusterState.outbox.reloads.get(WEB)).toBe('owed');
  });

  it('is nothing to a workload that was created after it', () => {
    const clusterState = clusterStateOf(ON_DELETE, { sources: found.sources });
    clusterState.sourceDeleted(CM, '110', SOURCES);
    clusterState.workloadWritten(seenWorkload('web', 120));
    expect(pending(clusterState)).toBeUndefined();
  });

  it('is pending for a workload whose creation is seen after the deletion that it came before', () => {
    const clusterState = clusterStateOf(ON_DELETE, { sources: found.sources });
    clusterState.sourceDeleted(CM, '110', SOURCES);
    clusterState.workloadWritten(seenWorkload('web', 105));
    expect(pending(clusterState)).toBe('owed');
  });

  it('and never was there is nothing to a workload that names it', () => {
    const clusterState = clusterStateOf(ON_DELETE, { workloads: [seenWorkload('web', 20)] });
    clusterState.sourceDeleted(CM, '110', SOURCES);
    expect(pending(clusterState)).toBeUndefined();
  });

  it("is only recorded if the owner's own rollout came after it", () => {
    const clusterState = clusterStateOf(ON_DELETE, found);
    clusterState.sourceDeleted(CM, '110', SOURCES);
    const rolled = { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) };
    clusterState.workloadWritten(seenWorkload('web', 120, rolled));
    expect(pending(clusterState)).toBe('correct');
  });

  it('is settled once it is recorded as deleted', () => {
    const clusterState = clusterStateOf(ON_DELETE, found);
    clusterState.sourceDeleted(CM, '110', SOURCES);
    clusterState.workloadWritten(seenWorkload('web', 120, { template: 't2', generation: 2, record: LOST }));
    expect(pending(clusterState)).toBeUndefined();
  });

  it.each(['A', 'B'])('and comes back with %s is pending again only if creations count', (data) => {
    for (const onCreate of [true, false]) {
      const clusterState = clusterStateOf({ ...ON_DELETE, onCreate }, found);
      clusterState.sourceDeleted(CM, '110', SOURCES);
      clusterState.workloadWritten(seenWorkload('web', 120, { template: 't2', generation: 2, record: LOST }));
      clusterState.sourceWritten(seenSource('cm', 130, data), SOURCES);
      expect(pending(clusterState)).toBe(onCreate ? 'owed' : 'correct');
    }
  });

  it.each(['A', 'B'])('and comes back with %s is owed to a CronJob only once it is changed', (data) => {
    const cronJob = { key: 'CronJob/ns/web', kind: 'CronJob', template: '' } as const;
    const report = seenWorkload('web', 20, { ...cronJob, record: recordOf({ cm: 'A' }) });
    const clusterState = clusterStateOf(ON_DELETE, { ...found, workloads: [report] });
    const cause = (): string | undefined => clusterState.pending.get(cronJob.key)?.cause;
    clusterState.sourceDeleted(CM, '110', SOURCES);
    expect(cause()).toBe('owed');
    clusterState.workloadWritten(seenWorkload('web', 120, { ...cronJob, record: LOST }));
    clusterState.sourceWritten(seenSource('cm', 130, data), SOURCES);
    expect(cause()).toBe('correct');
    clusterState.sourceWritten(seenSource('cm', 140, data, { annotations: { note: 'x' } }), SOURCES);
    expect(cause()).toBe('correct');
    clusterState.sourceWritten(seenSource('cm', 150, 'C'), SOURCES);
    expect(cause()).toBe('owed');
  });

  it('where only its variable could tell, is pending for a marked workload alone; the other rolls for other data', () => {
    const marks = ['STAKATER_CM_CONFIGMAP'];
    const marked = clusterStateOf(IF_MARKED, { ...found, workloads: [{ ...RECORDED, marks }] });
    marked.sourceDeleted(CM, '110', SOURCES);
    expect(pending(marked)).toBe('owed');
    const unmarked = clusterStateOf(IF_MARKED, found);
    unmarked.sourceDeleted(CM, '110', SOURCES);
    expect(pending(unmarked)).toBeUndefined();
    unmarked.sourceWritten(seenSource('cm', 120, 'A'), SOURCES);
    expect(pending(unmarked)).toBeUndefined();
    unmarked.sourceDeleted(CM, '130', SOURCES);
    unmarked.sourceWritten(seenSource('cm', 140, 'B'), SOURCES);
    expect(pending(unmarked)).toBe('owed');
  });

  it('is known as such after a restart too', () => {
    const gone = sourceRow(90, 'A', { exists: false });
    const row = workloadRow({ rv: '20', uid: 'uid-web', templateRv: '95', record: RECORDED.record });
    const after = { workloads: [RECORDED], sourceRows: { [CM]: gone }, workloadRows: { [WEB]: row } };
    expect(pending(clusterStateOf(ON_DELETE, after))).toBe('correct');
    const earlier = { ...after, workloadRows: { [WEB]: { ...row, templateRv: '80' } } };
    expect(pending(clusterStateOf(ON_DELETE, earlier))).toBe('owed');
  });
});
