import { expect, it } from 'vitest';
import { kindOf, namespaceOf, type SourceKey, type WorkloadKey } from '../model.ts';
import { MultiMap } from './multi-map.ts';
import { Outbox } from './outbox.ts';

const KEYS = Array.from({ length: 1_000 }, (_, index) => `ConfigMap/ns/cm-${index}` as const);
const WORKLOADS = KEYS.map((_, index) => `Deployment/ns/web-${index}` as const);

/** A map that counts how many of its members were read. */
class Counted<K extends string> extends MultiMap<K> {
  read = 0;

  override *each(key: string): Generator<K, void, void> {
    for (const member of super.each(key)) {
      this.read += 1;
      yield member;
    }
  }
}

function writeAll(
  outbox: Outbox,
  sources: readonly SourceKey[],
  workloads: readonly WorkloadKey[] = [],
): Counted<SourceKey> {
  const held = new Counted<SourceKey>();
  for (const key of sources) held.add(`${kindOf(key)}/${namespaceOf(key)}`, key);
  const workloadsIn = new MultiMap<WorkloadKey>();
  for (const key of workloads) workloadsIn.add(namespaceOf(key), key);
  outbox.writeAll(held, workloadsIn);
  return held;
}

function sourcesOf(outbox: Outbox, most: number): string[] {
  return outbox.takeRows(most).sources.map(([key]) => key);
}

it('reads no key to have every row written, and as many as are taken', () => {
  const outbox = new Outbox();
  const sources = writeAll(outbox, KEYS);
  expect([sources.read, outbox.hasRows]).toEqual([0, true]);
  expect(sourcesOf(outbox, 250)).toEqual(KEYS.slice(0, 250));
  expect(sources.read).toBe(250);
});

it('gives every row once, and those that changed in the middle of the first', () => {
  const outbox = new Outbox();
  writeAll(outbox, KEYS);
  outbox.writeSource('ConfigMap/ns/cm-700');
  outbox.writeSource('ConfigMap/ns/gone');
  const first = sourcesOf(outbox, 1_000);
  expect(first.slice(499, 502)).toEqual(['ConfigMap/ns/cm-499', 'ConfigMap/ns/cm-700', 'ConfigMap/ns/gone']);
  expect(new Set(first).size).toBe(1_000);
  expect(sourcesOf(outbox, 1_000)).toEqual(['ConfigMap/ns/cm-999']);
  expect(outbox.isEmpty()).toBe(true);
});

it('has rows until the last of them was looked for, and none once it is cleared', () => {
  const outbox = new Outbox();
  writeAll(outbox, [], WORKLOADS);
  outbox.takeRows(1_000);
  expect(outbox.hasRows).toBe(true);
  expect(outbox.takeRows(1)).toEqual({ sources: [], workloads: [], readings: new Map() });
  expect(outbox.hasRows).toBe(false);
  writeAll(outbox, KEYS, WORKLOADS);
  outbox.clear();
  expect(outbox.hasRows).toBe(false);
});

it('gives the hashes of a source with its row, once', () => {
  const reading = { rv: '1', hash: '1.A', markerHash: 'f00' } as const;
  const outbox = new Outbox();
  for (const key of KEYS.slice(0, 3)) {
    outbox.writeSource(key);
    outbox.leaveReading(key, { ...reading, rv: '0' });
    outbox.leaveReading(key, reading);
  }
  expect([...outbox.takeRows(1).readings]).toEqual([[KEYS[0], reading]]);
  outbox.writeSource('ConfigMap/ns/cm-0');
  outbox.dropChangeOf('ConfigMap/ns/cm-1');
  expect([...outbox.takeRows(2).readings]).toEqual([[KEYS[2], reading]]);
  outbox.leaveReading('ConfigMap/ns/cm-0', reading);
  outbox.clear();
  outbox.writeSource('ConfigMap/ns/cm-0');
  expect(outbox.takeRows(3).readings.size).toBe(0);
});

/** The changes whose jobs it gives, turn by turn, while other rows change at every turn. */
function jobsByTurn(outbox: Outbox, turns: number): (readonly string[])[] {
  return Array.from({ length: turns }, (_, turn) => {
    outbox.takeRows(1);
    outbox.writeSource(`ConfigMap/ns/later-${turn}`);
    outbox.writeWorkload(`Deployment/ns/later-${turn}`);
    return outbox.takeJobs(10).changes;
  });
}

it('gives jobs when the rows that waited with them are taken, however many change later', () => {
  const outbox = new Outbox();
  for (const key of KEYS.slice(0, 3)) outbox.writeSource(key);
  for (const key of WORKLOADS.slice(0, 2)) outbox.writeWorkload(key);
  outbox.enqueueChange('ConfigMap/ns/cm-0');
  expect(outbox.takeJobs(10).changes).toEqual([]);
  outbox.enqueueChange('ConfigMap/ns/late');
  outbox.writeSource('ConfigMap/ns/late');
  const turns = jobsByTurn(outbox, 8);
  expect(turns[2]).toEqual(['ConfigMap/ns/cm-0']);
  // Four rows are waiting all the time.
  expect(turns[7]).toEqual(['ConfigMap/ns/late']);
  expect(turns.flat()).toHaveLength(2);
});

it('gives no job that was dropped, wherever it waits', () => {
  const outbox = new Outbox();
  for (const lot of ['closed', 'open']) {
    outbox.writeSource(`ConfigMap/ns/${lot}`);
    outbox.enqueueChange('ConfigMap/ns/dropped');
    outbox.enqueueReload('Deployment/ns/dropped', 'owed');
    outbox.enqueueResume('Deployment/ns/dropped');
    outbox.enqueueChange(`ConfigMap/ns/${lot}`);
    outbox.takeJobs(10);
  }
  outbox.dropChangeOf('ConfigMap/ns/dropped');
  outbox.dropReloadOf('Deployment/ns/dropped');
  outbox.takeRows(10);
  const jobs = [outbox.takeJobs(10), outbox.takeJobs(10)];
  expect(jobs.map(({ changes }) => changes)).toEqual([['ConfigMap/ns/closed'], ['ConfigMap/ns/open']]);
  expect(jobs.flatMap(({ reloads, resumes }) => [...reloads, ...resumes])).toEqual([]);
  expect(outbox.isEmpty()).toBe(true);
});

it.each([
  ['every row is to be written again', (outbox: Outbox) => writeAll(outbox, KEYS.slice(0, 2))],
  [
    'rows are put back',
    (outbox: Outbox) =>
      outbox.putBackRows({
        sources: [
          ['ConfigMap/ns/cm-0', undefined],
          ['ConfigMap/ns/cm-1', undefined],
        ],
        workloads: [],
      }),
  ],
])('gives no job before the rows if %s while it waits', (_, again) => {
  const outbox = new Outbox();
  outbox.writeSource('ConfigMap/ns/cm-0');
  outbox.enqueueChange('ConfigMap/ns/cm-0');
  expect(outbox.takeJobs(10).changes).toEqual([]);
  outbox.takeRows(1);
  again(outbox);
  expect(outbox.takeJobs(10).changes).toEqual([]);
  outbox.takeRows(1);
  expect(outbox.takeJobs(10).changes).toEqual([]);
  outbox.takeRows(2);
  expect(outbox.takeJobs(10).changes).toEqual(['ConfigMap/ns/cm-0']);
});

it('gives a job of its own to what happens after the job before it was closed', () => {
  const outbox = new Outbox();
  const both = { changes: ['ConfigMap/ns/cm'], reloads: [['Deployment/ns/web', 'owed']], resumes: [] };
  const happens = (): void => {
    outbox.writeSource('ConfigMap/ns/cm');
    outbox.writeWorkload('Deployment/ns/web');
    outbox.enqueueChange('ConfigMap/ns/cm');
    outbox.enqueueReload('Deployment/ns/web', 'owed');
  };
  happens();
  outbox.takeJobs(10);
  outbox.takeRows(1);
  happens();
  expect(outbox.takeJobs(10)).toEqual(both);
  expect(outbox.takeJobs(10)).toEqual({ changes: [], reloads: [], resumes: [] });
  outbox.takeRows(1);
  expect(outbox.takeJobs(10)).toEqual(both);
  expect(outbox.isEmpty()).toBe(true);
});

it('gives one job for a change that the catalog shows if one is waiting', () => {
  const outbox = new Outbox();
  outbox.writeSource('ConfigMap/ns/cm');
  outbox.enqueueChange('ConfigMap/ns/cm');
  outbox.takeJobs(10);
  outbox.takeRows(10);
  outbox.enqueueWritten('ConfigMap/ns/cm');
  expect(outbox.takeJobs(10).changes).toEqual(['ConfigMap/ns/cm']);
  outbox.enqueueWritten('ConfigMap/ns/cm');
  expect(outbox.takeJobs(10).changes).toEqual(['ConfigMap/ns/cm']);
  expect(outbox.isEmpty()).toBe(true);
});

it('writes a row once that waits in both lots, as it is then', () => {
  const outbox = new Outbox();
  outbox.writeSource('ConfigMap/ns/cm');
  outbox.enqueueChange('ConfigMap/ns/cm');
  outbox.takeJobs(10);
  outbox.writeSource('ConfigMap/ns/cm');
  expect(outbox.takeRows(10).sources).toEqual([['ConfigMap/ns/cm', 'list']]);
  expect(outbox.hasRows).toBe(false);
});

it('gives the jobs of a lot although rows that came later do not fit into the same write', () => {
  const outbox = new Outbox();
  outbox.writeSource('ConfigMap/ns/cm');
  outbox.enqueueChange('ConfigMap/ns/cm');
  outbox.takeJobs(10);
  for (let n = 0; n < 3; n += 1) outbox.writeWorkload(`Deployment/busy/web-${n}`);
  const takesOne = (): number => 1;
  expect(outbox.takeRows(10, takesOne)).toMatchObject({ workloads: ['Deployment/busy/web-0'] });
  expect(outbox.takeJobs(10).changes).toEqual(['ConfigMap/ns/cm']);
  expect(outbox.takeRows(10, takesOne).workloads).toEqual(['Deployment/busy/web-1']);
  expect(outbox.takeRows(10).workloads).toEqual(['Deployment/busy/web-2']);
});

it('has the jobs of a namespace wait for its own rows only', () => {
  const outbox = new Outbox();
  for (const namespace of ['busy', 'quiet'] as const) {
    for (let n = 0; n < (namespace === 'busy' ? 1_000 : 1); n += 1)
      outbox.writeWorkload(`Deployment/${namespace}/web-${n}`);
    outbox.enqueueReload(`Deployment/${namespace}/web-0`, 'owed');
  }
  expect(outbox.takeJobs(10).reloads).toEqual([]);
  const first = outbox.takeRows(250).workloads;
  expect(first).toHaveLength(250);
  expect(first[25]).toBe('Deployment/quiet/web-0');
  expect(outbox.takeJobs(10).reloads).toEqual([['Deployment/quiet/web-0', 'owed']]);
  for (let write = 0; write < 3; write += 1) {
    expect(outbox.takeJobs(10).reloads).toEqual([]);
    outbox.takeRows(251);
  }
  expect(outbox.takeJobs(10).reloads).toEqual([['Deployment/busy/web-0', 'owed']]);
  expect(outbox.isEmpty()).toBe(true);
});

it('lets namespaces take turns with jobs, too', () => {
  const outbox = new Outbox();
  for (const key of WORKLOADS) outbox.enqueueReload(key, 'owed');
  outbox.enqueueReload('Deployment/quiet/web', 'owed');
  const taken = [outbox.takeJobs(100), outbox.takeJobs(100)].map(({ reloads }) => reloads);
  expect(taken.map(({ length }) => length)).toEqual([100, 100]);
  expect(taken[1]?.[0]).toEqual(['Deployment/quiet/web', 'owed']);
});

it('writes every row in the end if only one fits at a time', () => {
  const outbox = new Outbox();
  writeAll(outbox, [], WORKLOADS);
  const written: string[] = [];
  while (outbox.hasRows) written.push(...outbox.takeRows(100, () => 1).workloads);
  expect(written).toEqual(WORKLOADS);
});

it('writes every row in the end, however many change meanwhile, and gives no job before', () => {
  const outbox = new Outbox();
  writeAll(outbox, KEYS, WORKLOADS);
  outbox.enqueueChange('ConfigMap/ns/cm-0');
  const written = new Set<string>();
  let turns = 0;
  while (outbox.takeJobs(10).changes.length === 0) {
    for (let n = 0; n < 100; n += 1) {
      outbox.writeSource(`ConfigMap/ns/busy-${n}`);
      outbox.writeWorkload(`Deployment/ns/busy-${n}`);
    }
    const { sources, workloads } = outbox.takeRows(100);
    for (const key of [...sources.map(([source]) => source), ...workloads]) written.add(key);
    turns += 1;
    if (turns > 100) break;
  }
  // Half of each turn, and one to see that none is left.
  expect(turns).toBe(1_000 / 50 + 1);
  expect([...KEYS, ...WORKLOADS].every((key) => written.has(key))).toBe(true);
});

it('writes the rows of a namespace with a job first, and gives the job when they are written', () => {
  const outbox = new Outbox();
  const quiet = Array.from({ length: 60 }, (_, n) => `ConfigMap/quiet/cm-${n}` as const);
  writeAll(outbox, [...KEYS, ...quiet], [...WORKLOADS, 'Deployment/quiet/web']);
  expect(sourcesOf(outbox, 20)).toEqual(KEYS.slice(0, 20));
  outbox.putBackJobs({ changes: [], reloads: [['Deployment/quiet/web', 'owed']], resumes: [] });
  expect(outbox.takeJobs(10).reloads).toEqual([]);
  expect(sourcesOf(outbox, 50)).toEqual(quiet.slice(0, 50));
  expect(outbox.takeJobs(10).reloads).toEqual([]);
  expect(sourcesOf(outbox, 20)).toEqual([...quiet.slice(50), ...KEYS.slice(20, 30)]);
  expect(outbox.takeJobs(10).reloads).toEqual([['Deployment/quiet/web', 'owed']]);
  const rest = [sourcesOf(outbox, 1_000), sourcesOf(outbox, 1_000)].flat();
  expect(rest).toEqual(KEYS.slice(30));
  expect(outbox.isEmpty()).toBe(true);
});

it('has namespaces with jobs other than corrections take turns while every row is written', () => {
  const outbox = new Outbox();
  writeAll(outbox, ['ConfigMap/idle/cm', ...KEYS, 'ConfigMap/quiet/cm']);
  outbox.enqueueReload('Deployment/idle/web', 'correct');
  outbox.enqueueChange('ConfigMap/ns/cm-0');
  outbox.enqueueChange('ConfigMap/quiet/cm');
  expect(outbox.takeJobs(10).changes).toEqual([]);
  expect(sourcesOf(outbox, 100).indexOf('ConfigMap/quiet/cm')).toBe(25);
  expect(outbox.takeJobs(10).changes).toEqual(['ConfigMap/quiet/cm']);
  const rest: string[] = [];
  while (outbox.takeJobs(10).changes.length === 0 && rest.length < 1_000)
    rest.push(...sourcesOf(outbox, 100));
  expect(rest).toHaveLength(KEYS.length + 2 - 100);
  expect(rest.at(-1)).toBe('ConfigMap/idle/cm');
});

it('writes every row in the end, however large those are that change meanwhile', () => {
  const outbox = new Outbox();
  writeAll(outbox, [], WORKLOADS);
  let writes = 0;
  for (; outbox.takeJobs(1).reloads.length === 0 && writes < 100; writes += 1) {
    outbox.writeWorkload('Deployment/busy/large');
    if (writes === 0) outbox.enqueueReload('Deployment/ns/web-999', 'owed');
    let used = 0;
    outbox.takeRows(100, (key) => (used += key === 'Deployment/busy/large' ? 2 : 0.01));
  }
  // Half of a write each, and one to see that none is left.
  expect(writes).toBe(1_000 / 50 + 1);
});

it('has a namespace keep its turn for jobs while its rows change', () => {
  const outbox = new Outbox();
  for (const key of WORKLOADS) outbox.enqueueReload(key, 'owed');
  outbox.takeJobs(1);
  outbox.writeWorkload('Deployment/quiet/web');
  outbox.enqueueReload('Deployment/quiet/web', 'owed');
  const writes: unknown[][] = [];
  for (let write = 0; write < 3; write += 1) {
    outbox.takeRows(250);
    writes.push([...outbox.takeJobs(100).reloads]);
    outbox.writeWorkload('Deployment/quiet/other');
  }
  const of = writes.findIndex((each) => each.some((reload) => String(reload).includes('quiet')));
  expect(of).toBe(1);
});

it('gives jobs again that were put back', () => {
  const outbox = new Outbox();
  outbox.enqueueChange('ConfigMap/ns/cm');
  outbox.enqueueReload('Deployment/ns/web', 'owed');
  outbox.enqueueResume('Deployment/ns/web');
  const jobs = outbox.takeJobs(10);
  expect(outbox.isEmpty()).toBe(true);
  outbox.putBackJobs(jobs);
  expect(outbox.takeJobs(10)).toEqual(jobs);
});
