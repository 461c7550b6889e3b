import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { ClusterState } from '@reroll/core/state/cluster-state';
import { inOneGo } from '@reroll/core/state/slices';
import type { Clock } from '@reroll/kube/client/clock';
import { LeaderElector } from '@reroll/kube/lease/lease';
import { expect, onTestFinished, test, vi } from 'vitest';
import { seenWorkload } from '@reroll/core/testing/rows';
import { FakeLeases } from '@reroll/kube/testing/fake-leases';
import { inTurns } from './in-turns.ts';

/** Rows that a leader may process before it must have renewed the Lease. */
const RENEW_DEADLINE = 2_000;
const ROWS = 5_000;

/** Only work makes time pass, and timers run only when the event loop turns. */
class WorkClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly task: () => void }[] = [];
  #turn = setImmediate(() => this.#turned());

  now(): number {
    return this.#now;
  }

  after(ms: number, task: () => void): () => void {
    const timer = { at: this.#now + ms, task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  work(rows: number): void {
    this.#now += rows;
  }

  stop(): void {
    clearImmediate(this.#turn);
  }

  #turned(): void {
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter((timer) => !due.includes(timer));
    for (const { task } of due) task();
    this.#turn = setImmediate(() => this.#turned());
  }
}

/** A leader with much to forget; `work` is that work, and takes time for each row. */
async function leaderWithWork() {
  const clock = new WorkClock();
  onTestFinished(() => clock.stop());
  const onLost = vi.fn();
  const leases = new FakeLeases();
  const metadata = { namespace: 'reroll', name: 'watcher', resourceVersion: '1' };
  leases.lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} };
  const elector = new LeaderElector({
    client: leases.connect(),
    namespace: 'reroll',
    name: 'watcher',
    identity: 'a',
    leaseDurationMs: 3_000,
    renewDeadlineMs: RENEW_DEADLINE,
    retryPeriodMs: 400,
    callbacks: { onLost },
    clock,
  });
  elector.start();
  onTestFinished(() => elector.stop(0));
  await vi.waitFor(() => expect(elector.isLeader()).toBe(true));
  return { elector, onLost, work: counted(clusterStateOf(ROWS).leave('ns'), clock) };
}

function clusterStateOf(workloads: number): ClusterState {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 0, rowsPerSlice: 250 });
  for (let n = 0; n < workloads; n += 1) clusterState.workloadWritten(seenWorkload(`web${n}`, n + 1));
  return clusterState;
}

function* counted(slices: Iterable<void>, clock: WorkClock): Generator<void> {
  for (const _ of slices) {
    clock.work(250);
    yield;
  }
}

test('a leader renews its Lease during work that takes longer than the deadline', async () => {
  const { elector, onLost, work } = await leaderWithWork();
  await inTurns(work);
  expect(elector.isLeader()).toBe(true);
  expect(onLost).not.toHaveBeenCalled();
});

test('that very work in one go would cost it the Lease', async () => {
  const { elector, work } = await leaderWithWork();
  inOneGo(work);
  expect(elector.isLeader()).toBe(false);
});

test('work stops after the slice in which its stream was ended', async () => {
  const ending = new AbortController();
  const done: number[] = [];
  const each = (slice: number): void => {
    done.push(slice);
    if (slice === 2) ending.abort();
  };
  await inTurns([1, 2, 3, 4], { each, ended: ending.signal });
  expect(done).toEqual([1, 2]);
});
