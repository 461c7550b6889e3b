import { namespaceOf, type WorkloadKey } from '@reroll/core/model';
import { NamespaceTurns } from '@reroll/core/state/namespace-turns';
import { podTroubles, type PodSeen } from '@reroll/core/rollouts/pod-troubles';
import type { RolloutTracker } from '@reroll/core/rollouts/rollout-tracker';
import type { KubeClient } from '@reroll/kube/client/connection';
import { collectionPath, PODS } from '@reroll/kube/objects';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';

export interface StuckPodsContext {
  readonly client: Pick<KubeClient, 'get'>;
  readonly tracker: RolloutTracker;
  readonly metrics: Pick<WatcherMetrics, 'podReads'>;
  readonly log: Pick<Logger, 'failure'>;
  /** Whether this watcher holds the Lease now. A standby reads no pods. */
  readonly isLeader: () => boolean;
  /** Called after each update of the tracker. */
  readonly changed: () => void;
}

/** Pods in one response: enough to find five that are waiting. */
const LIMIT = 50;
/** The most bytes of one response: a pod can have more than 1 MiB, and parsing takes one turn. Beyond it, the request fails. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Deadline of one request (ms). */
const DEADLINE = 5_000;
/** Minimum milliseconds between two reads of one workload's pods. */
const MIN_INTERVAL = 60_000;

interface Wanted {
  readonly selector: string;
  /** Unix ms. */
  readonly dueAt: number;
}

/**
 * Reads the pods of stuck workloads (`--rollout-details`): once when a workload gets stuck, and again, at most once a
 * minute, when its stuck state is written anew. Sends one request at a time, and nothing waits for it. Namespaces take turns. A
 * failed request is not repeated and leaves the rollout without pods.
 */
export class StuckPods {
  readonly #context: StuckPodsContext;
  readonly #wanted = new Map<WorkloadKey, Wanted>();
  /** When each workload was last read (Unix ms), while it is stuck. */
  readonly #readAt = new Map<WorkloadKey, number>();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #loop: Promise<void> | null = null;

  constructor(context: StuckPodsContext) {
    this.#context = context;
  }

  /** Requests a read, because the stuck state is to be written for the first time or anew. A standby keeps the request. */
  want(workload: WorkloadKey, selector: string): void {
    const readAt = this.#readAt.get(workload);
    this.#wanted.set(workload, { selector, dueAt: readAt === undefined ? 0 : readAt + MIN_INTERVAL });
    this.kick();
  }

  /** Forgets a workload that no longer exists: a standby reads no pods, and so forgets none by itself. */
  gone(workload: WorkloadKey): void {
    this.#wanted.delete(workload);
    this.#readAt.delete(workload);
  }

  /** Forgets workloads that no longer exist. */
  prune(isThere: (workload: WorkloadKey) => boolean): void {
    for (const workload of this.#wanted.keys()) if (!isThere(workload)) this.gone(workload);
  }

  /** Reads the pods that are due. */
  kick(): void {
    if (this.#stopping.signal.aborted || !this.#context.isLeader()) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#loop ??= this.#run().finally(() => {
      this.#loop = null;
      this.#later();
    });
  }

  /** Stops, and aborts the request that is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#timer) clearTimeout(this.#timer);
    await this.#loop;
  }

  async #run(): Promise<void> {
    // Lets the rows of this turn of the event loop go first.
    await new Promise((resolve) => setImmediate(resolve));
    this.#forget();
    const turns = new NamespaceTurns<WorkloadKey, true>();
    while (!this.#stopping.signal.aborted && this.#context.isLeader()) {
      const now = Date.now();
      for (const [workload, { dueAt }] of this.#wanted) if (dueAt <= now) turns.put(workload, true);
      const next = turns.take();
      if (!next) return;
      await this.#read(next[0]);
    }
  }

  async #read(workload: WorkloadKey): Promise<void> {
    const { client, metrics, log } = this.#context;
    const wanted = this.#wanted.get(workload);
    this.#wanted.delete(workload);
    if (!wanted || !this.#isStuck(workload)) return;
    this.#readAt.set(workload, Date.now());
    const path = collectionPath(PODS, namespaceOf(workload));
    const { signal } = this.#stopping;
    try {
      const query = { labelSelector: wanted.selector, limit: LIMIT };
      const limits = { signal, timeoutMs: DEADLINE, maxBytes: MAX_BYTES };
      const { body } = await client.get<{ items: PodSeen[] }>(path, { query, ...limits });
      this.#record(workload, body.items);
      metrics.podReads.inc({ result: 'success' });
    } catch (error) {
      if (signal.aborted) return;
      metrics.podReads.inc({ result: 'error' });
      log.failure('cannot read the pods of a stuck rollout', error, { workload });
    }
  }

  #record(workload: WorkloadKey, pods: readonly PodSeen[]): void {
    const { tracker, changed } = this.#context;
    const troubles = podTroubles(pods);
    if (troubles.length === 0 && !tracker.tracked.get(workload)?.pods) return;
    tracker.explained(workload, troubles, Date.now());
    changed();
  }

  #later(): void {
    if (this.#wanted.size === 0 || this.#stopping.signal.aborted || !this.#context.isLeader()) return;
    const dueAt = Math.min(...[...this.#wanted.values()].map((each) => each.dueAt));
    this.#timer = setTimeout(() => this.kick(), Math.max(0, dueAt - Date.now()));
  }

  /** Forgets workloads that are no longer stuck, but keeps the time of the last read for `MIN_INTERVAL`. */
  #forget(): void {
    for (const workload of this.#wanted.keys()) if (!this.#isStuck(workload)) this.#wanted.delete(workload);
    const old = Date.now() - MIN_INTERVAL;
    for (const [workload, at] of this.#readAt) {
      if (at <= old && !this.#isStuck(workload)) this.#readAt.delete(workload);
    }
  }

  #isStuck(workload: WorkloadKey): boolean {
    return this.#context.tracker.tracked.get(workload)?.state === 'stuck';
  }
}
