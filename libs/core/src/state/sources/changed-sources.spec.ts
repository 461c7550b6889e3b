import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../../annotations/annotation-keys.ts';
import { recordOf, seenSource, seenWorkload } from '../../testing/rows.ts';
import type * as ClusterStateModule from '../cluster-state.ts';
import type * as PendingModule from '../pending.ts';
import type { ObservedSource, ObservedWorkload } from '../rows.ts';
import { inOneGo, ROWS_PER_SLICE } from '../slices.ts';

const evaluations = vi.hoisted(() => ({ count: 0 }));
vi.mock('../pending.ts', async (original) => {
  const module = await original<typeof PendingModule>();
  const pendingCauseOf: typeof PendingModule.pendingCauseOf = (...given) => {
    evaluations.count += 1;
    return module.pendingCauseOf(...given);
  };
  return { ...module, pendingCauseOf };
});
// Another spec file may have loaded it without what counts, and the next one is to have it so again.
vi.resetModules();
const { ClusterState } = await import('../cluster-state.ts');
type ClusterState = ClusterStateModule.ClusterState;
afterAll(() => void vi.resetModules());

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const NOTHING = { rv: '100', catalog: new Map() };

/** A cluster state in step, in which `users` workloads use the source `cm`, and one the source `other`. */
function clusterStateOf(users: number, more: readonly ObservedSource[] = []): ClusterState {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 50, evaluatesLater: true });
  const sources = [seenSource('cm', 10, 'A'), seenSource('other', 10, 'A'), ...more];
  clusterState.sourcesListed({ ...NOTHING, scope: SOURCES, objects: sources });
  clusterState.workloadListBegins(WORKLOADS);
  const workloads = Array.from({ length: users }, (_, n) => userOf(`web${n}`, 'cm'));
  clusterState.workloadsListed({
    ...NOTHING,
    scope: WORKLOADS,
    objects: [...workloads, userOf('single', 'other')],
  });
  drain(clusterState);
  clusterState.outbox.clear();
  return clusterState;
}

function userOf(name: string, source: string, rv = 20): ObservedWorkload {
  const uses = [`ConfigMap/${source}`];
  return seenWorkload(name, rv, { key: `Deployment/ns/${name}`, uses, record: recordOf({ [source]: 'A' }) });
}

/** Evaluates what there is in this window, and begins the next one; how many slices it took. */
function drain(clusterState: ClusterState): number {
  let slices = 1;
  while (clusterState.evaluation.slice()) slices += 1;
  clusterState.evaluation.nextWindow();
  return slices;
}

function write(clusterState: ClusterState, name: string, rv: number, data = String(rv)): void {
  clusterState.sourceWritten(seenSource(name, rv, data), SOURCES);
}

beforeEach(() => {
  evaluations.count = 0;
});

describe('a source that is written a thousand times', () => {
  it('has its users evaluated with the first event, and once more in the next window', () => {
    const clusterState = clusterStateOf(40);
    evaluations.count = 0;
    for (let rv = 1_000; rv < 2_000; rv += 1) {
      write(clusterState, 'cm', rv);
      clusterState.evaluation.slice();
    }
    expect(evaluations.count).toBe(40);
    expect(clusterState.sources.get('ConfigMap/ns/cm')).toMatchObject({ rv: '1999', hash: '1.1999' });
    clusterState.evaluation.nextWindow();
    drain(clusterState);
    expect(evaluations.count).toBe(80);
    expect(clusterState.pending.size).toBe(40);
  });

  it('and that nobody uses has one change job for the history, and evaluates nothing', () => {
    const clusterState = clusterStateOf(40, [seenSource('idle', 10, 'A')]);
    evaluations.count = 0;
    for (let rv = 1_000; rv < 2_000; rv += 1) write(clusterState, 'idle', rv);
    drain(clusterState);
    expect([evaluations.count, clusterState.outbox.changes.size]).toEqual([0, 1]);
    expect([...clusterState.outbox.sources]).toEqual(['ConfigMap/ns/idle']);
  });

  it('and has the data of before in the end reloads nobody', () => {
    const clusterState = clusterStateOf(1);
    write(clusterState, 'cm', 110, 'B');
    write(clusterState, 'cm', 120, 'A');
    drain(clusterState);
    expect(clusterState.pending.size).toBe(0);
  });
});

describe('of A -> B -> A seen as one', () => {
  it('a template that was written in between, and is seen before, is reloaded', () => {
    const clusterState = clusterStateOf(1);
    clusterState.workloadWritten({ ...userOf('web0', 'cm', 115), template: 't2', generation: 2 });
    write(clusterState, 'cm', 110, 'B');
    write(clusterState, 'cm', 120, 'A');
    drain(clusterState);
    expect(clusterState.workloads.get('Deployment/ns/web0')?.unverified).toEqual(['ConfigMap/cm']);
    expect(clusterState.pending.get('Deployment/ns/web0')?.cause).toBe('owed');
  });

  it('a template that was written in between, and is seen after, is reloaded', () => {
    const clusterState = clusterStateOf(1);
    write(clusterState, 'cm', 110, 'B');
    write(clusterState, 'cm', 120, 'A');
    clusterState.workloadWritten({ ...userOf('web0', 'cm', 115), template: 't2', generation: 2 });
    drain(clusterState);
    expect(clusterState.pending.get('Deployment/ns/web0')?.cause).toBe('owed');
  });

  it('a template that was written after both is not', () => {
    const clusterState = clusterStateOf(1);
    clusterState.workloadWritten({ ...userOf('web0', 'cm', 125), template: 't2', generation: 2 });
    write(clusterState, 'cm', 110, 'B');
    write(clusterState, 'cm', 120, 'A');
    drain(clusterState);
    expect(clusterState.pending.size).toBe(0);
  });
});

describe('a source with many users', () => {
  it('is evaluated in slices of so many users at most, and its change job comes after the last', () => {
    const clusterState = clusterStateOf(2_000);
    write(clusterState, 'cm', 110);
    let most = 0;
    for (let more = true; more;) {
      expect([...clusterState.outbox.changes]).toEqual([]);
      evaluations.count = 0;
      more = clusterState.evaluation.slice();
      most = Math.max(most, evaluations.count);
    }
    expect(most).toBeLessThanOrEqual(ROWS_PER_SLICE);
    expect([...clusterState.outbox.changes]).toEqual(['ConfigMap/ns/cm']);
  });

  it('does not hold up another: that has its change job after the next slice', () => {
    const clusterState = clusterStateOf(2_000);
    write(clusterState, 'cm', 110);
    clusterState.evaluation.slice();
    write(clusterState, 'other', 120);
    clusterState.evaluation.slice();
    expect([...clusterState.outbox.changes]).toEqual(['ConfigMap/ns/other']);
  });

  it('whose namespace leaves the scope meanwhile is forgotten with what was left to do', () => {
    const clusterState = clusterStateOf(2_000);
    write(clusterState, 'cm', 110);
    clusterState.evaluation.slice();
    inOneGo(clusterState.leave('ns'));
    expect(clusterState.evaluation.isDone).toBe(true);
    expect(clusterState.evaluation.slice()).toBe(false);
    expect([...clusterState.outbox.changes]).toEqual([]);
  });
});

describe('a namespace that keeps the evaluation busy', () => {
  /** A cluster state in which workloads of the namespace `busy` use its sources, so many each. */
  const busyStateOf = (counts: { sources: number; users: number }): ClusterState => {
    const sources = Array.from({ length: counts.sources }, (_, n) => ofBusy(n, 10));
    const clusterState = clusterStateOf(1, sources);
    const uses = sources.map(({ key }) => `ConfigMap/${key.slice('ConfigMap/busy/'.length)}`);
    for (let n = 0; n < counts.users; n += 1)
      clusterState.workloadWritten(
        seenWorkload(`web${n}`, 30, { key: `Deployment/busy/web${n}`, namespace: 'busy', uses }),
      );
    drain(clusterState);
    clusterState.outbox.clear();
    evaluations.count = 0;
    return clusterState;
  };
  const ofBusy = (n: number, rv: number): ObservedSource =>
    seenSource(`busy${n}`, rv, String(rv), { key: `ConfigMap/busy/busy${n}` });
  const changeBusy = (clusterState: ClusterState, sources: number, rv: number): void => {
    for (let n = 0; n < sources; n += 1) clusterState.sourceWritten(ofBusy(n, rv), SOURCES);
  };
  const jobOfVictim = (clusterState: ClusterState): boolean =>
    clusterState.outbox.changes.has('ConfigMap/ns/cm');

  it('does not delay the first change of another: that has its change job after the next slice', () => {
    const clusterState = busyStateOf({ sources: 300, users: 20 });
    changeBusy(clusterState, 300, 110);
    write(clusterState, 'cm', 120);
    clusterState.evaluation.slice();
    expect(jobOfVictim(clusterState)).toBe(true);
  });

  it('does not delay the second change of another beyond the window', () => {
    const clusterState = busyStateOf({ sources: 300, users: 20 });
    write(clusterState, 'cm', 110);
    changeBusy(clusterState, 300, 120);
    clusterState.evaluation.slice();
    clusterState.outbox.clear();
    write(clusterState, 'cm', 130);
    clusterState.evaluation.slice();
    expect(jobOfVictim(clusterState)).toBe(false);
    clusterState.evaluation.nextWindow();
    clusterState.evaluation.slice();
    expect(jobOfVictim(clusterState)).toBe(true);
  });

  it('has a source that changes while it is under way evaluated again in the window after its end', () => {
    const clusterState = busyStateOf({ sources: 1, users: 1_000 });
    changeBusy(clusterState, 1, 110);
    clusterState.evaluation.slice();
    changeBusy(clusterState, 1, 120);
    while (clusterState.evaluation.slice()) clusterState.evaluation.nextWindow();
    expect(evaluations.count).toBe(1_000);
    expect(clusterState.evaluation.isDone).toBe(false);
    drain(clusterState);
    drain(clusterState);
    expect(evaluations.count).toBe(2_000);
    expect(clusterState.evaluation.isDone).toBe(true);
  });
});

describe('many changes at once', () => {
  const changesOf = (count: number): number => {
    const names = Array.from({ length: count }, (_, n) => `own${n}`);
    const clusterState = clusterStateOf(
      0,
      names.map((name) => seenSource(name, 10, 'A')),
    );
    for (const name of names) clusterState.workloadWritten(userOf(`of-${name}`, name, 30));
    evaluations.count = 0;
    for (const [n, name] of names.entries()) write(clusterState, name, 1_000 + n);
    const slices = drain(clusterState);
    expect(clusterState.outbox.changes.size).toBe(count);
    return evaluations.count + slices;
  };

  it('cost as much each, however many they are', () => {
    expect(changesOf(4_000)).toBeLessThanOrEqual(4 * changesOf(1_000));
  });
});

describe('a live change of data', () => {
  /** Evaluates everything, and returns the hashes that come with the row of `cm`. */
  const readingOf = (clusterState: ClusterState): unknown => {
    drain(clusterState);
    const { sources, readings } = clusterState.outbox.takeRows(100);
    expect(sources.map(([key]) => key)).toEqual(['ConfigMap/ns/cm']);
    return readings.get('ConfigMap/ns/cm');
  };
  const change = (clusterState: ClusterState, rv: number, data: string): (() => string) => {
    const markerHash = vi.fn(() => `marker of ${data}`);
    clusterState.sourceWritten(seenSource('cm', rv, data, { markerHash }), SOURCES);
    return markerHash;
  };

  it('leaves the hashes of the last of several', () => {
    const clusterState = clusterStateOf(1);
    change(clusterState, 110, 'B');
    change(clusterState, 111, 'C');
    expect(readingOf(clusterState)).toEqual({ rv: '111', hash: '1.C', markerHash: 'marker of C' });
  });

  it('leaves none if nobody uses the source, and hashes its data once', () => {
    const clusterState = clusterStateOf(0);
    expect(change(clusterState, 110, 'B')).not.toHaveBeenCalled();
    expect(readingOf(clusterState)).toBeUndefined();
  });

  it('that changes nothing is hashed once', () => {
    expect(change(clusterStateOf(1), 110, 'A')).not.toHaveBeenCalled();
  });

  it('that brings a deleted source back leaves none: that is a creation', () => {
    const clusterState = clusterStateOf(1);
    clusterState.sourceDeleted('ConfigMap/ns/cm', '110', SOURCES);
    change(clusterState, 111, 'B');
    expect(readingOf(clusterState)).toBeUndefined();
  });
});
