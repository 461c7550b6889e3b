import { describe, expect, it } from 'vitest';
import { DELETED_HASH } from '../record/record-hash.ts';
import { recordedHashes, writeRecord } from '../record/record.ts';
import type { WorkloadRow } from '../state/rows.ts';
import { recordOf, sourceRow, workloadRow } from '../testing/rows.ts';
import {
  planReload,
  type DependencyFacts,
  type DependencyVerdict,
  type Mention,
  type Plan,
  type PlanInput,
  type SourceReading,
} from './plan.ts';

const CM = 'ConfigMap/cm';
const RECORD_A = recordOf({ cm: 'A' });

function reading(rv: number, hash: string, more: Partial<SourceReading> = {}): SourceReading {
  return { rv: String(rv), hash: `1.${hash}`, isRecorded: false, afterWorkload: true, ...more };
}

function dependency(more: Partial<DependencyFacts> = {}): DependencyFacts {
  return { name: CM, row: undefined, reading: undefined, isMarked: false, ...more };
}

/** A source as the catalog has it, read as the same write. */
function read(rv: number, hash: string, more?: Partial<SourceReading>): Partial<DependencyFacts> {
  return { row: sourceRow(rv, hash), reading: reading(rv, hash, more) };
}

/** The facts of one dependency, and of the workload. */
interface Case extends Partial<DependencyFacts> {
  record?: string | undefined;
  /** The row of the workload. */
  known?: PlanInput['row'] | 'unknown';
  generation?: number;
  adoptStale?: 'report' | 'reload';
}

function inputOf({ record, known, generation = 1, adoptStale = 'report', ...facts }: Case): PlanInput {
  const row = known === 'unknown' ? undefined : (known ?? workloadRow({ templateRv: '100', record }));
  const dependencies = [dependency(facts)];
  return { workload: { uid: 'uid-w', generation, record }, row, dependencies, adoptStale };
}

function verdict(of: Case): DependencyVerdict | undefined {
  return planReload(inputOf(of)).verdicts.get(CM);
}

describe('a record of many sources', () => {
  it('is not copied to judge one of them', () => {
    const others = Array.from({ length: 20 }, (_, index) => [`other-${index}`, 'x'.repeat(40)]);
    const record = recordOf({ cm: 'A', ...Object.fromEntries(others) });
    let reads = 0;
    const counted = {
      enumerable: true,
      get: () => {
        reads += 1;
        return '1.x';
      },
    };
    // A long record is parsed once, so that this is the one that the plan reads.
    Object.defineProperty(recordedHashes(record), 'ConfigMap/other-7', counted);
    expect(verdict({ record, ...read(50, 'A', { isRecorded: true }) })).toBe('InStep');
    expect(reads).toBe(0);
    expect(planReload(inputOf({ record, ...read(120, 'B') })).hashes).toHaveProperty(['ConfigMap/other-7']);
    expect(reads).toBeGreaterThan(0);
  });
});

describe('the row of a workload', () => {
  it.each<[string, DependencyVerdict, string]>([
    ['decides if it is of what was read', 'Correct', '120'],
    ['decides if it is of before', 'Correct', '121'],
    [
      'decides nothing if it is newer than what was read: of a write right after, or before etcd was restored',
      'Wait',
      '119',
    ],
  ])('%s', (_, expected, rv) => {
    const input = inputOf({
      record: RECORD_A,
      known: workloadRow({ rv: '120', templateRv: '100', record: RECORD_A }),
      ...read(50, 'B'),
    });
    const { verdicts } = planReload({ ...input, workload: { ...input.workload, rv } });
    expect(verdicts.get(CM)).toBe(expected);
  });
});

describe('a dependency', () => {
  it.each<[string, DependencyVerdict, Case]>([
    [
      'is in step if record and catalog agree, without reading the source',
      'InStep',
      { record: RECORD_A, row: sourceRow(50, 'A') },
    ],
    [
      'is in step even where the catalog does not know the workload',
      'InStep',
      { record: RECORD_A, known: 'unknown', row: sourceRow(50, 'A') },
    ],
    ['has to be read if record and catalog differ', 'Read', { record: RECORD_A, row: sourceRow(50, 'B') }],
    [
      'has to be read if its record is unverified',
      'Read',
      {
        record: RECORD_A,
        known: workloadRow({ templateRv: '100', record: RECORD_A, unverified: [CM] }),
        row: sourceRow(50, 'A'),
      },
    ],
    [
      "has to be read if its record is under another scheme, though what a colleague read is the leader's write",
      'Read',
      { record: recordOf({ cm: 'A' }).replace('"1.', '"kold.'), ...read(150, 'A', { afterWorkload: false }) },
    ],
    [
      'has to be read if a colleague read what is recorded, though the leader has it under another scheme',
      'Read',
      {
        record: RECORD_A,
        row: { ...sourceRow(150, 'A'), hash: 'kold.A' },
        reading: reading(150, 'A', { isRecorded: true, afterWorkload: false }),
      },
    ],
    ['has to be read if the catalog does not know the source', 'Read', { record: RECORD_A }],
    [
      'is absent if the catalog says that the source was deleted',
      'Absent',
      { record: RECORD_A, row: sourceRow(50, 'A', { exists: false }) },
    ],
    ['is absent if the source was read and is not there', 'Absent', { record: RECORD_A, reading: null }],
    [
      'waits if the catalog does not know the workload',
      'Wait',
      { record: RECORD_A, known: 'unknown', ...read(150, 'B') },
    ],
    [
      'waits if the catalog has another generation of the workload',
      'Wait',
      { record: RECORD_A, generation: 2, ...read(150, 'B') },
    ],
    [
      'waits if the catalog is behind what was read of the source',
      'Wait',
      { record: RECORD_A, row: sourceRow(50, 'A'), reading: reading(150, 'B') },
    ],
    [
      'waits if the catalog does not know the source that was read',
      'Wait',
      { record: RECORD_A, reading: reading(150, 'B') },
    ],
    ['without a record waits until the catalog dates it', 'Wait', { ...read(150, 'B') }],
    ['rolls if the data came after the template', 'Roll', { record: RECORD_A, ...read(150, 'B') }],
    [
      'is left to others if it looks pending, but only because its record is under a key that they may have',
      'KeyUnknown',
      { record: RECORD_A.replace('"1.', '"knew.'), ...read(150, 'A', { isKeyAwaited: true }) },
    ],
    [
      'rolls whatever its record is under, if that is unverified',
      'Roll',
      {
        record: RECORD_A.replace('"1.', '"knew.'),
        known: workloadRow({ templateRv: '100', unverified: [CM] }),
        ...read(150, 'A', { isKeyAwaited: true }),
      },
    ],
    [
      'is corrected whatever its record is under, if the pods have the data',
      'Correct',
      { record: RECORD_A.replace('"1.', '"knew.'), ...read(50, 'B', { isKeyAwaited: true }) },
    ],
    [
      'rolls by what a colleague read, if it is the write that the leader saw',
      'Roll',
      { record: RECORD_A, ...read(150, 'B', { afterWorkload: false }) },
    ],
    [
      'has to be read if the source is not watched, whatever a colleague read',
      'Read',
      {
        record: RECORD_A,
        row: sourceRow(150, 'B', { isUnwatched: true }),
        reading: reading(150, 'B', { afterWorkload: false }),
      },
    ],
    [
      'has to be read if what a colleague read is another write',
      'Read',
      { record: RECORD_A, row: sourceRow(150, 'B'), reading: reading(140, 'C', { afterWorkload: false }) },
    ],
    [
      'is never written off by what a colleague read',
      'Read',
      { record: RECORD_A, ...read(50, 'B', { afterWorkload: false }) },
    ],
    [
      'is only corrected if the template came after the data',
      'Correct',
      { record: RECORD_A, ...read(50, 'B') },
    ],
    [
      'is only corrected if a metadata write came after the template',
      'Correct',
      { record: RECORD_A, row: sourceRow(150, 'B', { dataRv: '50' }), reading: reading(150, 'B') },
    ],
    [
      'that agrees with the record but is unverified rolls if the data came later',
      'Roll',
      {
        record: RECORD_A,
        known: workloadRow({ templateRv: '100', record: RECORD_A, unverified: [CM] }),
        ...read(150, 'A', { isRecorded: true }),
      },
    ],
    [
      'under an older scheme that agrees is rewritten',
      'Rewrite',
      { record: recordOf({ cm: 'old-scheme' }), ...read(150, 'B', { isRecorded: true }) },
    ],
    [
      'without a record, older than its baseline, is adopted',
      'Adopt',
      { known: workloadRow({ baselines: { [CM]: '100' } }), ...read(50, 'A') },
    ],
    [
      'without a record, newer than its baseline, rolls',
      'Roll',
      { known: workloadRow({ baselines: { [CM]: '100' } }), ...read(150, 'B') },
    ],
    [
      'of which nothing tells what the pods run is adopted as stale',
      'AdoptStale',
      { known: workloadRow({ baselines: { [CM]: '100' }, stale: [CM] }), ...read(50, 'A') },
    ],
    [
      'that is stale but carries the marker of this data is adopted',
      'Adopt',
      { known: workloadRow({ baselines: { [CM]: '100' }, stale: [CM] }), ...read(50, 'A'), isMarked: true },
    ],
    [
      'that is stale rolls if that was asked for',
      'Roll',
      {
        adoptStale: 'reload',
        known: workloadRow({ baselines: { [CM]: '100' }, stale: [CM] }),
        ...read(50, 'A'),
      },
    ],
  ])('%s', (_, expected, of) => {
    expect(verdict(of)).toBe(expected);
  });
});

describe('a record that workloads share', () => {
  const sharer = (templateRv: string, more: Partial<WorkloadRow> = {}): WorkloadRow =>
    workloadRow({ uid: 'uid-s', generation: 5, rv: '500', dependencies: [CM], templateRv, ...more });
  const late = { known: workloadRow({ templateRv: '200', baselines: { [CM]: '200' } }), ...read(150, 'B') };
  const recorded = { record: RECORD_A, ...late };
  const absent = { row: sourceRow(150, 'A', { exists: false }), reading: null, showsDeletion: true };

  it.each<[string, DependencyVerdict, Case, WorkloadRow | undefined]>([
    ['its pods are older than the data', 'Shared', recorded, sharer('100')],
    [
      'its pods are older, and there is no entry',
      'Shared',
      late,
      sharer('100', { baselines: { [CM]: '90' } }),
    ],
    ['its pods are older than the deletion', 'Shared', { ...recorded, ...absent }, sharer('100')],
    [
      'its pods are older than what was read, which the catalog does not have yet',
      'Shared',
      { ...recorded, row: sourceRow(50, 'A') },
      sharer('100'),
    ],
    [
      'its pods may be older',
      'Shared',
      { ...recorded, reading: reading(150, 'B', { isKeyAwaited: true }) },
      sharer('100'),
    ],
    ['the catalog does not know it yet', 'Shared', recorded, undefined],
    ['its pods have the data', 'Correct', recorded, sharer('160')],
    ['its pods had none of the deleted data', 'Correct', { ...recorded, ...absent }, sharer('160')],
    ['it does not depend on the source', 'Correct', recorded, sharer('100', { dependencies: [] })],
  ])('is corrected only if no reload of a sharer is pending: %s', (_, expected, of, row) => {
    const onDelete = of.showsDeletion ?? false;
    const plan = (sharers?: PlanInput['sharers']): Plan => planReload({ ...inputOf(of), onDelete, sharers });
    expect(plan().hashes).not.toBeNull();
    expect(plan([sharer('300'), row]).verdicts.get(CM)).toBe(expected);
    expect(plan([row]).hashes === null).toBe(expected === 'Shared');
  });

  it('is written by a rollout, which is one of all of them', () => {
    const plan = planReload({
      ...inputOf({ record: RECORD_A, ...read(150, 'B') }),
      sharers: [sharer('100')],
    });
    expect(plan).toMatchObject({ roll: [CM], hashes: { [CM]: '1.B' } });
  });

  it('keeps the entries that only a sharer needs', () => {
    const record = recordOf({ cm: 'A', theirs: 'T', nobodys: 'N' });
    const hashesWith = (sharers?: PlanInput['sharers']): string[] => {
      const mentionOf = (name: string): Mention => (name === CM ? 'name' : 'none');
      return Object.keys(planReload({ ...inputOf({ ...late, record }), mentionOf, sharers }).hashes ?? {});
    };
    expect(hashesWith()).toEqual([CM]);
    expect(hashesWith([sharer('300', { dependencies: [CM, 'ConfigMap/theirs'] })])).toEqual([
      CM,
      'ConfigMap/theirs',
    ]);
  });
});

describe('a plan', () => {
  it.each([
    [1, 'Roll'],
    [2, 'Wait'],
  ])(
    'goes by a row only if its template is of the owner, and of the generation, that was read (%i)',
    (generation, verdict) => {
      const owner = { key: 'Deployment/ns/w', uid: 'uid-d', rv: '90', isMarked: true } as const;
      const record = recordOf({ cm: 'A' });
      const plan = planReload({
        workload: { uid: 'uid-w', generation: 1, record, templateOwner: { ...owner, generation } },
        row: workloadRow({ templateRv: '100', record, templateOwner: { ...owner, generation: 1 } }),
        dependencies: [dependency(read(150, 'B'))],
        adoptStale: 'report',
      });
      expect(plan.verdicts.get(CM)).toBe(verdict);
    },
  );

  it('writes the record of everything that is pending at once, and keeps the rest of it', () => {
    const record = recordOf({ cm: 'A', other: 'A', kept: 'K' });
    const plan = planReload({
      workload: { uid: 'uid-w', generation: 1, record },
      row: workloadRow({ templateRv: '100', record, dependencies: [CM, 'ConfigMap/other'] }),
      dependencies: [dependency(read(150, 'B')), dependency({ name: 'ConfigMap/other', ...read(151, 'C') })],
      adoptStale: 'report',
    });
    expect(plan.roll).toEqual([CM, 'ConfigMap/other']);
    expect(plan.hashes).toEqual({ 'ConfigMap/cm': '1.B', 'ConfigMap/other': '1.C', 'ConfigMap/kept': '1.K' });
  });

  describe('drops from the record what the workload speaks of no more', () => {
    const record = recordOf({ cm: 'A', dead: 'D', used: 'U', there: 'T', gone: 'G', late: 'L' });
    const input: PlanInput = {
      workload: { uid: 'uid-w', generation: 1, record },
      row: workloadRow({ templateRv: '100', record }),
      dependencies: [
        dependency(read(150, 'B')),
        dependency({ name: 'ConfigMap/there', row: sourceRow(50, 'T') }),
        dependency({ name: 'ConfigMap/gone', row: sourceRow(90, 'G', { exists: false }) }),
        dependency({ name: 'ConfigMap/late', row: sourceRow(110, 'L', { exists: false }) }),
      ],
      adoptStale: 'report',
      mentionOf: (name) => {
        if (name === 'ConfigMap/dead') return 'none';
        return name === CM || name === 'ConfigMap/used' ? 'name' : 'pattern';
      },
    };

    it('when it is written for another reason, with sources that only a pattern means and that went before the pods began', () => {
      const hashes = recordOf({ cm: 'B', used: 'U', there: 'T', late: 'L' });
      expect(planReload(input).hashes).toEqual(recordedHashes(hashes));
    });

    it('but writes nothing for that alone', () => {
      const [, ...others] = input.dependencies;
      const inStep = dependency({ row: sourceRow(50, 'A') });
      expect(planReload({ ...input, dependencies: [inStep, ...others] })).toMatchObject({
        roll: [],
        hashes: null,
      });
    });
  });

  it('that follows a hundred names in turn, as Kustomize makes them, has only the present one', () => {
    let record: string | undefined;
    for (let turn = 0; turn < 100; turn += 1) {
      const name = `ConfigMap/config-${turn}`;
      const plan = planReload({
        workload: { uid: 'uid-w', generation: turn, record },
        row: workloadRow({ generation: turn, templateRv: '100', record, baselines: { [name]: '100' } }),
        dependencies: [dependency({ name, ...read(50, 'A') })],
        adoptStale: 'report',
        mentionOf: (each) => (each === name ? 'name' : 'none'),
      });
      record = writeRecord(plan.hashes ?? {});
      expect(Object.keys(recordedHashes(record))).toEqual([name]);
    }
  });

  it('with nothing to write has no record', () => {
    expect(planReload(inputOf({ record: RECORD_A, row: sourceRow(50, 'A') }))).toMatchObject({
      roll: [],
      hashes: null,
    });
  });

  it('made twice of what the first one wrote does nothing', () => {
    const first = planReload(inputOf({ record: RECORD_A, ...read(150, 'B') }));
    const record = recordOf({ cm: 'B' });
    expect(first.hashes).toEqual({ [CM]: '1.B' });
    const second = planReload(inputOf({ record, ...read(150, 'B', { isRecorded: true }) }));
    expect(second).toMatchObject({ roll: [], hashes: null });
  });
});

describe('a source that the leader saw deleted, if deletions count', () => {
  const gone = sourceRow(150, 'A', { exists: false });

  it.each<[string, DependencyVerdict, Case]>([
    ['has to be read', 'Read', { record: RECORD_A, row: gone }],
    [
      'has to be read though a colleague read it earlier',
      'Read',
      { record: RECORD_A, row: gone, reading: reading(50, 'A', { afterWorkload: false }) },
    ],
    [
      'rolls if it is not there and the patch can show it',
      'Roll',
      { record: RECORD_A, row: gone, reading: null, showsDeletion: true },
    ],
    [
      'is only recorded if the template was written after it',
      'Correct',
      {
        record: RECORD_A,
        known: workloadRow({ templateRv: '160', record: RECORD_A }),
        row: gone,
        reading: null,
        showsDeletion: true,
      },
    ],
    [
      'is left alone if nothing could be taken away',
      'Absent',
      { record: RECORD_A, row: gone, reading: null },
    ],
    [
      'waits if it is there after all: back, or out of what is watched',
      'Wait',
      { record: RECORD_A, row: gone, reading: reading(150, 'A') },
    ],
    [
      'waits if the catalog has another generation of the workload',
      'Wait',
      { record: RECORD_A, generation: 2, row: gone, reading: null, showsDeletion: true },
    ],
    [
      'has to be read for a workload whose pods began before it, and which is not recorded yet',
      'Read',
      { known: workloadRow({ templateRv: '100', baselines: { [CM]: '120' } }), row: gone },
    ],
    [
      'rolls such a workload',
      'Roll',
      {
        known: workloadRow({ templateRv: '100', baselines: { [CM]: '120' } }),
        row: gone,
        reading: null,
        showsDeletion: true,
      },
    ],
    [
      'is nothing to one that is not recorded yet and has counted only since',
      'Absent',
      {
        known: workloadRow({ templateRv: '100', baselines: { [CM]: '150' } }),
        row: gone,
        reading: null,
        showsDeletion: true,
      },
    ],
    [
      'is nothing to one of which nothing tells since when it counts',
      'Absent',
      { row: gone, reading: null, showsDeletion: true },
    ],
    [
      'is nothing to a workload that has the deletion recorded',
      'Absent',
      { record: recordOf({ cm: 'A' }).replace('1.A', DELETED_HASH), row: gone },
    ],
  ])('%s', (_sentence, expected, of) => {
    const plan = planReload({ ...inputOf(of), onDelete: true });
    expect(plan.verdicts.get(CM)).toBe(expected);
    const writes = expected === 'Roll' || expected === 'Correct';
    expect(plan.hashes).toEqual(writes ? { [CM]: DELETED_HASH } : null);
  });

  it('is absent if deletions do not count', () => {
    expect(verdict({ record: RECORD_A, row: gone, reading: null, showsDeletion: true })).toBe('Absent');
  });

  it('rolls when it comes back, though under the deletion nothing was recorded of its data', () => {
    const record = recordOf({ cm: 'A' }).replace('1.A', DELETED_HASH);
    expect(verdict({ record, ...read(150, 'A') })).toBe('Roll');
  });

  it.each<[string, DependencyVerdict, number]>([
    ['is only recorded when it comes back and creations do not count', 'Correct', 150],
    ['is waited for if it was written after the row that says so', 'Wait', 160],
  ])('%s, also for a CronJob', (_sentence, expected, rv) => {
    const record = RECORD_A.replace('1.A', DELETED_HASH);
    const row = sourceRow(150, 'A', { dataRv: '50', returned: true });
    const known = workloadRow({ templateRv: '0', record });
    expect(verdict({ record, known, row, reading: reading(rv, 'A') })).toBe(expected);
  });
});
