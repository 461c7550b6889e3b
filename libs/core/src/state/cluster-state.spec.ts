import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { AUTO, recordOf, seenSource, seenWorkload, sourceRow, workloadRow } from '../testing/rows.ts';
import type { MarkerConflict } from './workloads/conflict.ts';
import { ClusterState } from './cluster-state.ts';
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

/** A cluster state that has listed what is given, with an empty outbox. */
function clusterStateOf({
  sources = [],
  workloads = [],
  sourceRows = {},
  workloadRows = {},
  rv = 100,
  adoptedAt = 50,
}: Known = {}): ClusterState {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt });
  clusterState.sourcesListed({ ...listed(sources, sourceRows, rv), scope: SOURCES });
  clusterState.workloadListBegins(WORKLOADS);
  clusterState.workloadsListed({ ...listed(workloads, workloadRows, rv), scope: WORKLOADS });
  return clusterState;
}

/** The same after its first reload jobs were enqueued. */
function settled(known: Known = {}): ClusterState {
  const clusterState = clusterStateOf(known);
  clusterState.outbox.clear();
  return clusterState;
}

const recorded = {
  sources: [seenSource('cm', 10, 'A')],
  workloads: [seenWorkload('web', 20, { record: recordOf({ cm: 'A' }) })],
};

function resync(clusterState: ClusterState): [string, string][] {
  clusterState.outbox.clear();
  for (const _ of clusterState.resync()) continue;
  return [...clusterState.outbox.reloads];
}

describe('a restart by a field, under the same template', () => {
  const at = (restartAt: number) => ({ restartAt, record: recordOf({ cm: 'A' }) });
  const restartedOnce = {
    sources: [seenSource('cm', 10, 'A')],
    workloads: [seenWorkload('web', 20, at(1_000))],
  };

  it('that comes after a change of the source has brought it: nothing is pending', () => {
    const clusterState = settled(restartedOnce);
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    clusterState.workloadWritten(seenWorkload('web', 120, at(1_001)));
    expect(clusterState.workloads.get(WEB)).toMatchObject({ templateRv: '120', restartAt: 1_001 });
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
  });

  it.each([
    ['is taken away', 0],
    ['is set back', 999],
  ])('that %s brings nothing: the change is still pending', (_sentence, restartAt) => {
    const clusterState = settled(restartedOnce);
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    clusterState.workloadWritten(seenWorkload('web', 120, at(restartAt)));
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });

  it('that is taken away and set to what it was brings nothing either', () => {
    const clusterState = settled(restartedOnce);
    clusterState.workloadWritten(seenWorkload('web', 110, at(0)));
    clusterState.sourceWritten(seenSource('cm', 120, 'B'), SOURCES);
    clusterState.workloadWritten(seenWorkload('web', 130, at(1_000)));
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });
});

describe('a live write of a source', () => {
  it('with other data makes one change job and moves dataRv', () => {
    const clusterState = settled(recorded);
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    expect([...clusterState.outbox.changes]).toEqual([CM]);
    expect(clusterState.sources.get(CM)).toMatchObject({ hash: '1.B', rv: '110', dataRv: '110' });
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });

  it('with the same data makes no job and leaves dataRv', () => {
    const clusterState = settled(recorded);
    clusterState.sourceWritten(seenSource('cm', 110, 'A'), SOURCES);
    expect(clusterState.outbox.changes.size + clusterState.outbox.reloads.size).toBe(0);
    expect(clusterState.sources.get(CM)).toMatchObject({ rv: '110', dataRv: '10' });
  });

  it('that is older than what is known is passed over', () => {
    const clusterState = settled(recorded);
    clusterState.sourceWritten(seenSource('cm', 9, 'Z'), SOURCES);
    expect(clusterState.sources.get(CM)?.hash).toBe('1.A');
  });

  it('that makes it ignored ends its dependencies, and another one brings them back', () => {
    const clusterState = settled(recorded);
    clusterState.sourceWritten(
      seenSource('cm', 110, 'A', { annotations: { 'reloader.stakater.com/ignore': 'true' } }),
      SOURCES,
    );
    expect(clusterState.workloads.get(WEB)?.dependencies).toEqual([]);
    clusterState.sourceWritten(seenSource('cm', 111, 'A'), SOURCES);
    expect(clusterState.workloads.get(WEB)?.dependencies).toEqual(['ConfigMap/cm']);
  });
});

describe('a source deleted and created again', () => {
  it('with the same data makes nothing pending', () => {
    const clusterState = settled(recorded);
    clusterState.sourceDeleted(CM, '110', SOURCES);
    clusterState.sourceWritten(seenSource('cm', 120, 'A'), SOURCES);
    expect(clusterState.sources.get(CM)?.dataRv).toBe('10');
    expect(clusterState.pending.size).toBe(0);
  });

  it('with other data is dated by the deletion', () => {
    const clusterState = settled(recorded);
    clusterState.sourceDeleted(CM, '110', SOURCES);
    clusterState.sourceWritten(seenSource('cm', 120, 'B'), SOURCES);
    expect(clusterState.sources.get(CM)?.dataRv).toBe('110');
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });

  it('while nobody watched is found at the list, by the catalog', () => {
    const clusterState = settled({ ...recorded, sources: [], sourceRows: { [CM]: sourceRow(10, 'A') } });
    expect(clusterState.sources.get(CM)).toMatchObject({ exists: false, rv: '100', hash: '1.A' });
    clusterState.sourceWritten(seenSource('cm', 120, 'B'), SOURCES);
    expect(clusterState.sources.get(CM)?.dataRv).toBe('100');
  });
});

describe('a source that a list does not show', () => {
  const rowsKnown = (row: SourceRow): ClusterState => {
    const clusterState = clusterStateOf();
    clusterState.sourcesListed({ scope: SOURCES, rv: '200', objects: [], catalog: new Map([[CM, row]]) });
    return clusterState;
  };

  it('is gone, if the catalog has it from before the list', () => {
    expect(rowsKnown(sourceRow(150, 'A')).sources.get(CM)).toMatchObject({ exists: false, rv: '200' });
  });

  it('is there as the stream says, if a leader has written of it since the list was taken', () => {
    const clusterState = rowsKnown(sourceRow(210, 'A'));
    expect(clusterState.sources.has(CM)).toBe(false);
    clusterState.sourceWritten(seenSource('cm', 210, 'A'), SOURCES);
    expect(clusterState.sources.get(CM)).toMatchObject({ exists: true, rv: '210' });
  });
});

describe('a source that appears', () => {
  it('after the list has data that could be had since the list', () => {
    const clusterState = settled({ workloads: [seenWorkload('web', 20)] });
    clusterState.sourceWritten(seenSource('cm', 110, 'A'), SOURCES);
    expect(clusterState.sources.get(CM)?.dataRv).toBe('100');
    expect([...clusterState.outbox.reloads]).toEqual([[WEB, 'correct']]);
  });

  it('gives a dependency to a workload that names it by pattern, from then on', () => {
    const named = seenWorkload('web', 20, {
      uses: [],
      annotations: { 'configmap.reloader.stakater.com/reload': 'app-.*' },
    });
    const clusterState = settled({ workloads: [named] });
    expect(clusterState.workloads.get(WEB)?.dependencies).toEqual([]);
    clusterState.sourceWritten(seenSource('app-x', 110, 'A'), SOURCES);
    expect(clusterState.workloads.get(WEB)).toMatchObject({
      dependencies: ['ConfigMap/app-x'],
      baselines: { 'ConfigMap/app-x': '110' },
    });
  });
});

describe('one upgrade that writes a source and then its workload', () => {
  it('needs no second rollout, whichever event comes first', () => {
    const upgraded = seenWorkload('web', 120, {
      template: 't2',
      generation: 2,
      record: recordOf({ cm: 'A' }),
    });
    for (const order of ['source', 'workload']) {
      const clusterState = settled(recorded);
      if (order === 'source') clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
      clusterState.workloadWritten(upgraded);
      if (order === 'workload') clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
      expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
      expect(clusterState.workloads.get(WEB)?.unverified).toEqual(['ConfigMap/cm']);
    }
  });

  it('and a flip back afterwards is pending, though the record agrees with it', () => {
    const clusterState = settled(recorded);
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    clusterState.workloadWritten(
      seenWorkload('web', 120, { template: 't2', generation: 2, record: recordOf({ cm: 'A' }) }),
    );
    clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });
});

describe('a workload', () => {
  it('without an annotation has no dependencies and is never enqueued', () => {
    const clusterState = clusterStateOf({
      sources: [seenSource('cm', 10, 'A')],
      workloads: [seenWorkload('web', 20, { annotations: {} })],
    });
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    expect(clusterState.outbox.reloads.size).toBe(0);
    expect(clusterState.pending.size).toBe(0);
  });

  it('found without a record is only recorded', () => {
    const clusterState = clusterStateOf({
      sources: [seenSource('cm', 10, 'A')],
      workloads: [seenWorkload('web', 20)],
    });
    expect([...clusterState.outbox.reloads]).toEqual([[WEB, 'correct']]);
  });

  describe('whose source did not exist when it was listed', () => {
    const SECRETS = { kind: 'Secret', namespace: '' };
    const dated = (from: string): WorkloadRow =>
      workloadRow({ uid: 'uid-web', rv: '20', baselines: { 'ConfigMap/cm': from } });
    /** The list of Secrets is older than that of ConfigMaps: between them something else was written. */
    function withoutSource(workloadRows: Record<string, WorkloadRow> = {}): ClusterState {
      const clusterState = clusterStateOf();
      clusterState.sourcesListed({ ...listed([], {}, 90), scope: SECRETS });
      clusterState.workloadListBegins(WORKLOADS);
      const workloads = listed([seenWorkload('web', 20)], workloadRows, 110);
      clusterState.workloadsListed({ ...workloads, scope: WORKLOADS });
      return clusterState;
    }

    it('is only recorded when it is created, and reloaded when it is changed', () => {
      const clusterState = withoutSource();
      clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
      expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
      clusterState.sourceWritten(seenSource('cm', 140, 'B'), SOURCES);
      expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
    });

    it('and which another watcher has dated from its own, earlier list is only recorded too', () => {
      const clusterState = withoutSource({ [WEB]: dated('80') });
      clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
      expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
    });

    it('and of which it had data before is reloaded when it comes', () => {
      const clusterState = withoutSource({ [WEB]: dated('0') });
      clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
      expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
    });
  });

  it('found without a record is stale if its source was written after its creation, before the adoption', () => {
    const clusterState = clusterStateOf({
      sources: [seenSource('cm', 10, 'A', { modifiedAt: 40 })],
      workloads: [seenWorkload('web', 5, { createdAt: 30 })],
    });
    expect(clusterState.workloads.get(WEB)?.stale).toEqual(['ConfigMap/cm']);
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
  });

  it('found without a record is pending if its source was written after the adoption and its own creation', () => {
    const clusterState = clusterStateOf({
      sources: [seenSource('cm', 60, 'B', { modifiedAt: 70 })],
      workloads: [seenWorkload('web', 55, { createdAt: 60 })],
    });
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
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
    const clusterState = clusterStateOf({
      sources: [seenSource('cm', 60, 'B', { modifiedAt, asCreated })],
      workloads: [seenWorkload('web', 65, { createdAt: 60, generation })],
    });
    const { cause } = clusterState.pending.get(WEB) ?? {};
    const isStale = clusterState.workloads.get(WEB)?.stale.includes('ConfigMap/cm');
    const words = { owed: 'owed', correct: `correct, ${isStale ? 'but' : 'and not'} stale` };
    expect(cause && words[cause]).toBe(expected);
  });

  describe('that a later list finds', () => {
    const foundAfterWrite = (rv: number): ClusterState => {
      const clusterState = clusterStateOf({ sources: [seenSource('cm', 60, 'A', { modifiedAt: 40 })] });
      clusterState.sourcesListed({ ...listed([], {}, 90), scope: { kind: 'Secret', namespace: '' } });
      clusterState.sourceWritten(seenSource('cm', rv, 'B', { modifiedAt: 60 }), SOURCES);
      clusterState.workloadListBegins(WORKLOADS);
      const list = listed<ObservedWorkload, WorkloadRow>(
        [seenWorkload('web', 140, { createdAt: 70 })],
        {},
        150,
      );
      clusterState.workloadsListed({ ...list, scope: WORKLOADS });
      return clusterState;
    };

    it('has the data from before its creation, though another kind of source is quiet', () => {
      expect(foundAfterWrite(130).pending.get(WEB)?.cause).toBe('correct');
    });

    it('lacks data that was written after its creation, though the clocks of API servers say otherwise', () => {
      expect(foundAfterWrite(145).pending.get(WEB)?.cause).toBe('owed');
    });
  });

  it('found without a record is stale if its source was created in the same second, before the adoption', () => {
    const clusterState = clusterStateOf({
      sources: [seenSource('cm', 10, 'A', { modifiedAt: 30, asCreated: true })],
      workloads: [seenWorkload('web', 15, { createdAt: 30 })],
    });
    expect(clusterState.workloads.get(WEB)?.stale).toEqual(['ConfigMap/cm']);
  });

  it('and its source that are both created while the first lists are read are only recorded', () => {
    const clusterState = clusterStateOf({ workloads: [seenWorkload('web', 95, { createdAt: 60 })] });
    clusterState.sourceWritten(seenSource('cm', 94, 'A', { modifiedAt: 60, asCreated: true }), SOURCES);
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
    clusterState.sourceWritten(seenSource('cm', 110, 'B', { modifiedAt: 61 }), SOURCES);
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });

  it('found as the catalog has it keeps what was known', () => {
    const row = workloadRow({ rv: '20', uid: 'uid-web', templateRv: '15', record: recordOf({ cm: 'A' }) });
    const clusterState = clusterStateOf({
      ...recorded,
      sourceRows: { [CM]: sourceRow(10, 'A', { dataRv: '8' }) },
      workloadRows: { [WEB]: row },
    });
    expect(clusterState.workloads.get(WEB)?.templateRv).toBe('15');
    expect(clusterState.sources.get(CM)?.dataRv).toBe('8');
  });

  it('found with another template than the catalog leaves its record unverified', () => {
    const row = workloadRow({
      rv: '18',
      uid: 'uid-web',
      template: 't0',
      generation: 0,
      record: recordOf({ cm: 'A' }),
    });
    const clusterState = clusterStateOf({ ...recorded, workloadRows: { [WEB]: row } });
    expect(clusterState.workloads.get(WEB)).toMatchObject({ templateRv: '18', unverified: ['ConfigMap/cm'] });
  });

  it('whose record is stripped is judged by the last one seen', () => {
    const clusterState = settled(recorded);
    clusterState.workloadWritten(seenWorkload('web', 110));
    expect(clusterState.workloads.get(WEB)?.baselines).toEqual({ 'ConfigMap/cm': '10' });
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
    const behind = settled(recorded);
    behind.sourceWritten(seenSource('cm', 105, 'B'), SOURCES);
    behind.workloadWritten(seenWorkload('web', 110));
    expect(behind.pending.get(WEB)?.cause).toBe('owed');
  });

  it.each([
    ['other data', 'B', 'owed'],
    ['the same data', 'A', 'correct'],
  ])(
    'whose record is stripped while its source is gone is judged when that is back with %s',
    (_, data, pending) => {
      const clusterState = settled({
        ...recorded,
        workloads: [seenWorkload('web', 20, { record: undefined })],
      });
      clusterState.workloadWritten(seenWorkload('web', 105, { record: recordOf({ cm: 'A' }) }));
      clusterState.sourceDeleted(CM, '110', SOURCES);
      clusterState.workloadWritten(seenWorkload('web', 120));
      clusterState.sourceWritten(seenSource('cm', 130, data), SOURCES);
      expect(clusterState.pending.get(WEB)?.cause).toBe(pending);
    },
  );

  it.each([
    ['rolled', 'T2', 'owed'],
    ['not rolled', 'T1', 'correct'],
  ])('stripped of its record in a gap, and %s there, is pending accordingly', (_, template, pending) => {
    const row = workloadRow({ rv: '20', uid: 'uid-web', template: 'T1', record: recordOf({ cm: 'A' }) });
    const clusterState = clusterStateOf({
      // Back at what the record said; what a worker's patch brought in between, nobody saw.
      sources: [seenSource('cm', 60, 'A')],
      workloads: [seenWorkload('web', 70, { template })],
      sourceRows: { [CM]: sourceRow(30, 'B') },
      workloadRows: { [WEB]: { ...row, templateRv: '20' } },
    });
    expect(clusterState.pending.get(WEB)?.cause).toBe(pending);
  });

  it('rolled by the write that strips its record has the data of then, though the source is back at what it said', () => {
    const clusterState = settled(recorded);
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    clusterState.workloadWritten(seenWorkload('web', 120, { template: 't2' }));
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });

  it('whose template is served in another form, as after an upgrade of the API server, was not rolled', () => {
    const clusterState = settled(recorded);
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    const record = recordOf({ cm: 'A' });
    clusterState.workloadWritten(seenWorkload('web', 120, { template: 't2', generation: 1, record }));
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
    clusterState.workloadWritten(seenWorkload('web', 130, { template: 't3', generation: 3, record }));
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
  });

  it('first written after an upgrade of the API server may have another form and no rollout, so it stays pending', () => {
    const clusterState = settled({
      ...recorded,
      workloads: [seenWorkload('web', 20, { template: '1.34:t1', record: recordOf({ cm: 'A' }) })],
    });
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    const served = (rv: number, template: string, generation: number): void =>
      clusterState.workloadWritten(
        seenWorkload('web', rv, { template: `1.35:${template}`, generation, record: recordOf({ cm: 'A' }) }),
      );
    served(120, 't2', 2);
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
    served(130, 't3', 3);
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
  });

  it.each(['t1', '1.34:t1'])(
    'known as %s and served in the same form after an upgrade was not rolled, and nothing is in doubt',
    (template) => {
      const record = recordOf({ cm: 'A' });
      const clusterState = settled({
        ...recorded,
        workloads: [seenWorkload('web', 20, { template, record })],
      });
      clusterState.workloadWritten(seenWorkload('web', 120, { template: '1.35:t1', generation: 2, record }));
      expect(clusterState.workloads.get(WEB)?.unverified).toEqual([]);
      clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
      expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
    },
  );

  it('first written after an upgrade may have been rolled, so data that was replaced before does not count as equal', () => {
    const clusterState = settled({
      ...recorded,
      workloads: [seenWorkload('web', 20, { template: '1.34:t1', record: recordOf({ cm: 'A' }) })],
    });
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    const record = recordOf({ cm: 'A' });
    clusterState.workloadWritten(seenWorkload('web', 120, { template: '1.35:t2', generation: 2, record }));
    clusterState.sourceWritten(seenSource('cm', 130, 'A'), SOURCES);
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });

  it('whose status is written makes no row and no reload job', () => {
    const clusterState = settled(recorded);
    clusterState.workloadWritten(seenWorkload('web', 110, { record: recordOf({ cm: 'A' }) }));
    expect(clusterState.outbox.isEmpty()).toBe(true);
    expect(clusterState.workloads.get(WEB)?.rv).toBe('110');
  });

  it('that a list does not show is gone, unless it is there and could not be read', () => {
    const relist = (unread: string[]): ClusterState => {
      const clusterState = settled(recorded);
      clusterState.workloadListBegins(WORKLOADS);
      clusterState.workloadsListed({ scope: WORKLOADS, rv: '200', objects: [], unread, catalog: new Map() });
      return clusterState;
    };
    expect(relist([]).workloads.has(WEB)).toBe(false);
    expect(relist([WEB]).workloads.has(WEB)).toBe(true);
  });

  it('that a list showed in a portion is there, and gone if it was deleted before the end', () => {
    const relist = (found: string[]): ClusterState => {
      const clusterState = settled(recorded);
      clusterState.workloadListBegins(WORKLOADS);
      const objects = [seenWorkload('web', 120), seenWorkload('new', 130)];
      clusterState.workloadsFound({ scope: WORKLOADS, objects, catalog: new Map() });
      expect([...clusterState.workloads.keys()]).toEqual([WEB, 'Deployment/ns/new']);
      const end = { scope: WORKLOADS, rv: '200', objects: [], catalog: new Map() };
      clusterState.workloadsListed({ ...end, found: new Set(found) });
      return clusterState;
    };
    expect([...relist([WEB, 'Deployment/ns/new']).workloads.keys()]).toEqual([WEB, 'Deployment/ns/new']);
    expect([...relist(['Deployment/ns/new']).workloads.keys()]).toEqual(['Deployment/ns/new']);
  });

  it('that a broken list showed is taken from the catalog, if a leader has written a later row since', () => {
    const clusterState = clusterStateOf();
    const before = workloadRow({ uid: 'uid-web', rv: '20', template: 'T1', templateRv: '20' });
    const since = workloadRow({ uid: 'uid-web', rv: '140', template: 'T2', templateRv: '130' });
    const list = (row: WorkloadRow, seen: ObservedWorkload): void => {
      clusterState.workloadListBegins(WORKLOADS);
      clusterState.workloadsFound({ scope: WORKLOADS, objects: [seen], catalog: new Map([[WEB, row]]) });
    };
    list(before, seenWorkload('web', 20, { template: 'T1' }));
    list(since, seenWorkload('web', 150, { template: 'T2' }));
    expect(clusterState.workloads.get(WEB)).toMatchObject({ rv: '150', templateRv: '130' });
  });

  it('gets into no conflict by strips that the stream is still to show, because the catalog is ahead of the list', () => {
    const conflict = { before: ['t1'], strips: [100, 200] };
    const row = workloadRow({ uid: 'uid-web', rv: '140', record: recordOf({ cm: 'B' }), conflict });
    const conflictOf = (seenAt: number): MarkerConflict | undefined => {
      const clusterState = clusterStateOf();
      clusterState.workloadListBegins(WORKLOADS);
      const objects = [seenWorkload('web', seenAt, { record: recordOf({ cm: 'B' }) })];
      clusterState.workloadsFound({ scope: WORKLOADS, objects, catalog: new Map([[WEB, row]]) });
      return clusterState.workloads.get(WEB)?.conflict;
    };
    expect(conflictOf(140)).toEqual(conflict);
    expect(conflictOf(20)).toBeUndefined();
  });

  it('of another namespace is not touched by the list of one', () => {
    const clusterState = settled(recorded);
    clusterState.workloadListBegins({ ...WORKLOADS, namespace: 'other' });
    clusterState.workloadsListed({
      scope: { ...WORKLOADS, namespace: 'other' },
      rv: '200',
      objects: [],
      catalog: new Map(),
    });
    expect(clusterState.workloads.has(WEB)).toBe(true);
  });
});

describe('a resync', () => {
  it('adds nothing to the time for which a workload has needed a reload, nor does what is written to it meanwhile', () => {
    const clusterState = settled(recorded);
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    for (let n = 0; n < 5; n += 1) {
      clusterState.intervalPassed();
      const seen = seenWorkload('web', 120 + n, { generation: 2 + n, record: recordOf({ cm: 'A' }) });
      clusterState.workloadWritten(seen);
      resync(clusterState);
      resync(clusterState);
    }
    const oldestIn = new Map([['ns', 5_000]]);
    expect(clusterState.pendingReloads(1_000)).toEqual({ workloads: 1, oldest: 5_000, oldestIn });
  });

  it('enqueues what is pending after 1, 2, 4 … resyncs', () => {
    const clusterState = settled(recorded);
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    const enqueued = Array.from({ length: 16 }, () => resync(clusterState).length);
    expect(enqueued).toEqual([1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
  });

  it('begins anew after another change, and after the catalog was lost', () => {
    const clusterState = settled(recorded);
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    for (let n = 0; n < 5; n += 1) resync(clusterState);
    clusterState.sourceWritten(seenSource('cm', 120, 'C'), SOURCES);
    expect(resync(clusterState)).toEqual([[WEB, 'owed']]);
    for (let n = 0; n < 5; n += 1) resync(clusterState);
    clusterState.assertAll();
    expect(clusterState.outbox.takeRows(10).workloads).toEqual([WEB]);
    expect(resync(clusterState)).toEqual([[WEB, 'owed']]);
  });

  it('enqueues nothing that is settled', () => {
    expect(resync(settled(recorded))).toEqual([]);
  });
});

describe('a pause that a reload began', () => {
  const paused = seenWorkload('web', 20, { resumeAt: 1_000 });

  it('is told of when it is seen, and by every resync until it is over', () => {
    const clusterState = settled({ workloads: [seenWorkload('web', 10)] });
    clusterState.workloadWritten(paused);
    expect([...clusterState.outbox.resumes]).toEqual([WEB]);
    for (let n = 0; n < 2; n += 1) {
      clusterState.outbox.clear();
      resync(clusterState);
      expect([...clusterState.outbox.resumes]).toEqual([WEB]);
      clusterState.outbox.clear();
    }
    clusterState.workloadWritten(seenWorkload('web', 30));
    resync(clusterState);
    expect([...clusterState.outbox.resumes]).toEqual([]);
  });

  it('changes no pod template: nothing is pending by it', () => {
    const clusterState = settled({ workloads: [seenWorkload('web', 10)] });
    const before = clusterState.workloads.get(WEB)?.templateRv;
    clusterState.workloadWritten(paused);
    expect(clusterState.workloads.get(WEB)?.templateRv).toBe(before);
  });
});

describe('a workload that is left alone', () => {
  const pendingJob = seenWorkload('twin', 20, { leftAlone: 'JobTwin', annotations: {} });

  it('has no dependencies, and no source makes anything pending for it', () => {
    const seen = seenWorkload('web', 20, { leftAlone: 'JobFinished', record: recordOf({ cm: 'A' }) });
    const clusterState = settled({ ...recorded, workloads: [seen] });
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    expect(clusterState.workloads.get(WEB)?.dependencies).toEqual([]);
    expect(clusterState.pending.size).toBe(0);
  });

  it('begins to be when it is finished, though it was pending', () => {
    const clusterState = settled(recorded);
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    expect(clusterState.pending.has(WEB)).toBe(true);
    clusterState.workloadWritten(
      seenWorkload('web', 120, { leftAlone: 'JobFinished', record: recordOf({ cm: 'A' }) }),
    );
    expect(clusterState.pending.has(WEB)).toBe(false);
  });

  it('as a pending Job is enqueued when it is seen, and by resyncs for as long as it is there', () => {
    const clusterState = clusterStateOf({ workloads: [pendingJob] });
    expect([...clusterState.outbox.reloads]).toEqual([[pendingJob.key, 'owed']]);
    expect(resync(clusterState)).toEqual([[pendingJob.key, 'owed']]);
    clusterState.workloadDeleted(pendingJob.key);
    expect(clusterState.pending.size).toBe(0);
    expect(resync(clusterState)).toEqual([]);
  });
});

describe('the index', () => {
  it('finds a workload under what it uses, names, mentions and has recorded', () => {
    const web = seenWorkload('web', 20, {
      mentions: ['Secret/unmounted'],
      annotations: { ...AUTO, 'secret.reloader.stakater.com/reload': 'db' },
      record: recordOf({ old: 'A' }),
    });
    const clusterState = settled({ workloads: [web] });
    expect([...clusterState.sourcesOf(WEB)].sort()).toEqual([
      CM,
      'ConfigMap/ns/old',
      'Secret/ns/db',
      'Secret/ns/unmounted',
    ]);
  });
});
