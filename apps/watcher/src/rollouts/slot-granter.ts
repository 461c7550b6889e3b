import { grantSlots, usesSlot, type Slots } from '@reroll/core/holds/rollout-slots';
import { namespaceOf, type WorkloadKey } from '@reroll/core/model';
import { hasRollouts } from '@reroll/core/rollouts/rollout';
import type { RolloutTracker } from '@reroll/core/rollouts/rollout-tracker';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import type { Queues } from '@reroll/redis/queue/queues';
import {
  GRANTED,
  type RolloutSlots,
  type SlotGrant,
  type WaitingReload,
} from '@reroll/redis/queue/rollout-slots';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { LastReloads } from './last-reloads.ts';

export interface SlotGranterContext {
  readonly clusterState: Pick<ClusterState, 'workloads'>;
  readonly tracker: Pick<RolloutTracker, 'tracked'>;
  readonly slots: Pick<RolloutSlots, 'takeRequests' | 'grants' | 'write'>;
  readonly queues: Pick<Queues, 'enqueueHeld'>;
  /** The term of this watcher's leadership; undefined if it does not lead. */
  readonly term: () => string | undefined;
  /** Called when a newer leader has written. */
  readonly refused: () => void;
  readonly metrics: Pick<WatcherMetrics, 'rolloutSlots'>;
  readonly log: Pick<Logger, 'failure'>;
  /** Unix milliseconds by the API server's clock, as in records and in the grants of other leaders. */
  readonly now: () => number;
}

/** Milliseconds between two turns. */
const INTERVAL = 500;
/** Requests that are taken, and slots that are granted, in one turn. */
const REQUESTS_PER_TURN = 1_000;
const GRANTS_PER_TURN = 100;

/**
 * Grants the slots of `--max-concurrent-rollouts` while this watcher leads (docs/adr/0044). What uses a slot is read from the cluster
 * state: a workload whose record lists a reload and whose rollout is not complete. Redis holds only grants that are not yet seen
 * to be used. Heap: one request for each workload that waits.
 */
export class SlotGranter {
  readonly #context: SlotGranterContext;
  readonly #limit: Omit<Slots, 'used'>;
  readonly #waiting = new Map<string, Map<WorkloadKey, WaitingReload>>();
  readonly #lastReloads: LastReloads;
  #hasUsed = true;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();

  /** `total`: the most slots of the installation; `Infinity`: no limit but those of Namespaces. */
  constructor(context: SlotGranterContext, limit: Omit<Slots, 'used'>) {
    this.#context = context;
    this.#limit = limit;
    this.#lastReloads = new LastReloads(context.clusterState.workloads);
  }

  start(): void {
    const again = (): void => {
      this.#turn = this.turn()
        .catch((error: unknown) => this.#context.log.failure('cannot grant slots, retrying', error))
        .finally(() => {
          if (this.#timer) this.#timer = setTimeout(again, INTERVAL);
        });
    };
    this.#timer = setTimeout(again, 0);
  }

  /** Stops after the turn that is under way. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#turn;
  }

  /** Rejects with ioredis' error; the next turn then does the rest. */
  async turn(): Promise<void> {
    const { slots, term: termNow, refused } = this.#context;
    const term = termNow();
    this.#lastReloads.forgetUnasked();
    if (term === undefined) return;
    for (const request of await slots.takeRequests(REQUESTS_PER_TURN)) this.#add(request);
    if (this.#waiting.size === 0 && !this.#hasUsed) return;
    const now = this.#context.now();
    const grants = await slots.grants();
    const ended = [...grants].flatMap(([workload, grant]) =>
      this.#isEnded(workload, grant, now) ? [workload] : [],
    );
    for (const workload of ended) grants.delete(workload);
    const granted = this.#grant(grants, now);
    if (ended.length === 0 && granted.length === 0) return;
    const grantOf = (workload: WorkloadKey): SlotGrant => ({
      at: now,
      reloadedAt: this.#lastReloads.of(workload),
    });
    const written = granted.map((workload) => [workload, grantOf(workload)] as const);
    if (!(await slots.write(term, written, ended))) refused();
    else await this.#enqueue(granted);
  }

  #add(request: WaitingReload): void {
    const { workload } = request.job;
    const namespace = namespaceOf(workload);
    const line = this.#waiting.get(namespace) ?? new Map<WorkloadKey, WaitingReload>();
    this.#waiting.set(namespace, line.set(workload, request));
  }

  /** Used, so that its rollout tells from now on; or not used in time. */
  #isEnded(workload: WorkloadKey, { at, reloadedAt }: SlotGrant, now: number): boolean {
    const row = this.#context.clusterState.workloads.get(workload);
    return !row || now - at > GRANTED || this.#lastReloads.of(workload) > reloadedAt;
  }

  #grant(grants: ReadonlyMap<WorkloadKey, SlotGrant>, now: number): WorkloadKey[] {
    const used = new Set(grants.keys());
    const { tracker, metrics } = this.#context;
    for (const [workload, { state }] of tracker.tracked)
      if (hasRollouts(workload) && usesSlot(state, this.#lastReloads.of(workload), now)) used.add(workload);
    this.#dropGone();
    const granted = grantSlots(this.#waiting, { used, ...this.#limit, count: GRANTS_PER_TURN });
    for (const workload of granted) used.add(workload);
    this.#hasUsed = used.size > 0;
    metrics.rolloutSlots.set({ state: 'used' }, used.size);
    metrics.rolloutSlots.set({ state: 'waiting' }, this.#waitingCount() - granted.length);
    return granted;
  }

  /** What is gone waits no more: those that are next in their namespaces. */
  #dropGone(): void {
    for (const line of this.#waiting.values()) {
      for (const workload of line.keys()) {
        if (this.#context.clusterState.workloads.has(workload)) break;
        this.#remove(workload);
      }
    }
  }

  #remove(workload: WorkloadKey): void {
    const namespace = namespaceOf(workload);
    const line = this.#waiting.get(namespace);
    line?.delete(workload);
    if (line?.size === 0) this.#waiting.delete(namespace);
  }

  #waitingCount(): number {
    let count = 0;
    for (const line of this.#waiting.values()) count += line.size;
    return count;
  }

  /** Removes them only once their jobs are enqueued, so that a failure is retried. */
  async #enqueue(granted: readonly WorkloadKey[]): Promise<void> {
    const jobs = granted.flatMap(
      (workload) => this.#waiting.get(namespaceOf(workload))?.get(workload)?.job ?? [],
    );
    await this.#context.queues.enqueueHeld(jobs, Date.now());
    for (const workload of granted) this.#remove(workload);
  }
}
