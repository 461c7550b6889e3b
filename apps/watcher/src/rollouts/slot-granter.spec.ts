import { namespaceOf, type WorkloadKey } from '@reroll/core/model';
import { writeRecord } from '@reroll/core/record/record';
import type { RolloutEntry } from '@reroll/core/history/entries';
import type { WorkloadRow } from '@reroll/core/state/rows';
import { work } from '@reroll/core/work';
import { workloadRow } from '@reroll/core/testing/rows';
import { reloadJobOf, type ReloadJob } from '@reroll/redis/queue/jobs';
import type { SlotGrant, WaitingReload } from '@reroll/redis/queue/rollout-slots';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SlotGranter } from './slot-granter.ts';

/** `name`, `namespace/name` or a whole key. */
const key = (name: string): WorkloadKey => {
  const parts = name.split('/');
  return [...['Deployment', 'shop'].slice(0, 3 - parts.length), ...parts].join('/') as WorkloadKey;
};

/** What the granter works with; it grants `total` slots. */
class Install {
  readonly rows = new Map<WorkloadKey, WorkloadRow>();
  readonly rollouts = new Map<WorkloadKey, RolloutEntry>();
  readonly granted = new Map<WorkloadKey, SlotGrant>();
  readonly enqueued: string[] = [];
  readonly registry = new Registry();
  requests: WaitingReload[] = [];
  term: string | undefined = '7';
  isFollowed = false;
  wasRefused = false;
  failure: Error | undefined;
  calls = 0;
  /** By how many milliseconds the clock of the API server is ahead of the leader's. */
  apiAhead = 0;
  readonly granter: SlotGranter;

  constructor(total: number) {
    const metrics = watcherMetrics(this.registry);
    this.granter = new SlotGranter(
      {
        clusterState: { workloads: this.rows },
        tracker: { tracked: this.rollouts },
        slots: {
          takeRequests: async () => this.requests.splice(0),
          grants: async () => {
            this.calls += 1;
            return new Map(this.granted);
          },
          write: async (_term, put, ended) => {
            if (this.isFollowed) return false;
            for (const [workload, grant] of put) this.granted.set(workload, grant);
            for (const workload of ended) this.granted.delete(workload);
            return true;
          },
        },
        queues: {
          enqueueHeld: async (jobs: readonly ReloadJob[]) => {
            if (this.failure) throw this.failure;
            this.enqueued.push(...jobs.map(({ workload }) => workload.replace(/^Deployment\/(shop\/)?/, '')));
          },
        },
        term: () => this.term,
        refused: () => void (this.wasRefused = true),
        metrics,
        log: { failure: () => undefined },
        now: () => this.#apiTime(),
      },
      { total, isShared: true },
    );
  }

  ask(...names: readonly string[]): void {
    for (const name of names) {
      this.rows.set(key(name), this.rows.get(key(name)) ?? workloadRow({}));
      this.requests.push({ job: reloadJobOf(key(name), 1) });
    }
  }

  #apiTime(): number {
    return Date.now() + this.apiAhead;
  }

  /** The leader sees that a worker has reloaded it. */
  reloaded(name: string): void {
    const times = [Math.floor(this.#apiTime() / 1000)];
    this.rows.set(key(name), workloadRow({ record: writeRecord({}, undefined, { times, level: 0 }) }));
    this.rollouts.set(key(name), { state: 'progressing' } as RolloutEntry);
  }

  rolledOut(name: string): void {
    this.rollouts.delete(key(name));
  }

  async turn(): Promise<string> {
    await this.granter.turn();
    return this.enqueued.splice(0).join(' ');
  }

  async metric(): Promise<Record<string, number>> {
    const { values = [] } = (await this.registry.getSingleMetric('reroll_rollout_slots')?.get()) ?? {};
    return Object.fromEntries(values.map(({ labels, value }) => [labels['state'], value]));
  }
}

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

describe('a slot', () => {
  it('is granted again once the rollout that used it is complete', async () => {
    const install = new Install(1);
    install.ask('a', 'b');
    expect(await install.turn()).toBe('a');
    expect(await install.metric()).toEqual({ used: 1, waiting: 1 });
    expect(await install.turn()).toBe('');
    install.reloaded('a');
    expect(await install.turn()).toBe('');
    expect([...install.granted.keys()]).toEqual([]);
    install.rolledOut('a');
    expect(await install.turn()).toBe('b');
    expect(await install.metric()).toEqual({ used: 1, waiting: 0 });
  });

  it.each([-700_000, 700_000])('is in use if the API server is %i ms ahead of the leader', async (ahead) => {
    const install = new Install(1);
    install.apiAhead = ahead;
    install.ask('a', 'b');
    expect(await install.turn()).toBe('a');
    install.reloaded('a');
    expect(await install.turn()).toBe('');
    expect(await install.metric()).toEqual({ used: 1, waiting: 1 });
  });

  it.each([
    ['is not used for a minute', () => vi.advanceTimersByTime(60_001)],
    ['is of a workload that is gone', (install: Install) => install.rows.delete(key('a'))],
    ['is not needed', (install: Install) => install.granted.delete(key('a'))],
    [
      'is of a rollout that gets stuck',
      (install: Install) => {
        install.reloaded('a');
        install.rollouts.set(key('a'), { state: 'stuck' } as RolloutEntry);
      },
    ],
    [
      'is of a rollout that takes ten minutes',
      (install: Install) => {
        install.reloaded('a');
        vi.advanceTimersByTime(601_000);
      },
    ],
  ])('that %s is granted to another', async (_, happens) => {
    const install = new Install(1);
    install.ask('a', 'b');
    expect(await install.turn()).toBe('a');
    happens(install);
    expect(await install.turn()).toBe('b');
  });

  it('counts that Redis knows nothing of: of a workload that was reloaded and is being rolled out', async () => {
    const install = new Install(3);
    install.reloaded('a');
    install.ask('b', 'c');
    expect(await install.turn()).toBe('b');
  });

  it('is left for others by a namespace whose rollouts never end, and whose records list ever new reloads', async () => {
    const install = new Install(3);
    install.ask('other/a', 'other/b');
    for (const name of ['a', 'b', 'c', 'd']) install.reloaded(name);
    expect(await install.turn()).toBe('other/a');
    vi.advanceTimersByTime(540_000);
    for (const name of ['a', 'b', 'c', 'd']) install.reloaded(name);
    install.ask('e');
    expect(await install.turn()).toBe('other/b');
  });

  it('is not used by a Job that was reloaded and runs', async () => {
    const install = new Install(1);
    install.reloaded('Job/shop/migrate');
    install.ask('a');
    expect(await install.turn()).toBe('a');
  });

  it('is not counted for a rollout that somebody else began', async () => {
    const install = new Install(1);
    install.ask('a', 'b');
    install.rollouts.set(key('a'), { state: 'progressing' } as RolloutEntry);
    expect(await install.turn()).toBe('a');
  });
});

it('enqueues at the next turn what it could not', async () => {
  const install = new Install(1);
  install.ask('a', 'b');
  install.failure = new Error('ECONNRESET');
  await expect(install.turn()).rejects.toThrow('ECONNRESET');
  install.failure = undefined;
  expect(await install.turn()).toBe('a');
  expect(await install.turn()).toBe('');
});

it('grants nothing while it does not lead, and ends if another has written', async () => {
  const install = new Install(1);
  install.ask('a');
  install.term = undefined;
  expect(await install.turn()).toBe('');
  install.term = '7';
  install.isFollowed = true;
  expect(await install.turn()).toBe('');
  expect(install.wasRefused).toBe(true);
});

it('reads a record once, and remembers none of workloads that are not rolled out', async () => {
  const install = new Install(1);
  install.ask('b');
  install.reloaded('a');
  const rollout = install.rollouts.get(key('a')) as RolloutEntry;
  const charactersRead = async (turns: number): Promise<number> => {
    const before = work.recordCharacters;
    for (let turn = 0; turn < turns; turn += 1) await install.turn();
    return work.recordCharacters - before;
  };
  const length = install.rows.get(key('a'))?.record?.length;
  expect(await charactersRead(5)).toBe(length);
  install.rolledOut('a');
  await install.turn();
  await install.turn();
  install.rollouts.set(key('a'), rollout);
  expect(await charactersRead(5)).toBe(length);
});

it('asks Redis for no slots while nobody waits', async () => {
  const install = new Install(1);
  for (let turn = 0; turn < 5; turn += 1) await install.turn();
  expect(install.calls).toBe(1);
});

it('goes on after a failure until it is stopped', async () => {
  const install = new Install(1);
  install.failure = new Error('ECONNRESET');
  install.ask('a');
  install.granter.start();
  await vi.advanceTimersByTimeAsync(10);
  install.failure = undefined;
  await vi.advanceTimersByTimeAsync(500);
  expect(install.enqueued).toEqual(['a']);
  await install.granter.stop();
  install.ask('b');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(install.requests.map(({ job }) => namespaceOf(job.workload))).toEqual(['shop']);
});
