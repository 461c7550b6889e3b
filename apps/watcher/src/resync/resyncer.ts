import type { Catalog } from '@reroll/redis/catalog/catalog';
import { isInConflict } from '@reroll/core/state/workloads/conflict';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import { slicesOf } from '@reroll/core/state/slices';
import type { RolloutEntry } from '@reroll/core/history/entries';
import { kindOf, namespaceOf, type Key, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { inTurns } from '../watch/in-turns.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { RolloutPublisher } from '../rollouts/rollout-publisher.ts';

/** Rows that are counted in one turn of the event loop. */
const COUNTED_PER_TURN = 5_000;
/** After so many resyncs, about an hour, changes that were written down and not told yet get another job, for ever. */
const RESYNCS_BETWEEN_UNTOLD = 64;

export interface ResyncerContext {
  readonly clusterState: ClusterState;
  readonly catalog: Catalog;
  readonly publisher: Publisher;
  readonly rollouts: RolloutPublisher;
  readonly metrics: WatcherMetrics;
  /** Milliseconds. */
  readonly interval: number;
}

/** What others know. */
export interface ResyncQuestions {
  /** Workloads of which a person's request is not done; nothing if that cannot be told now. */
  readonly requested: () => Promise<readonly WorkloadKey[]>;
  /** Whether it is not known yet if the workload exists. */
  readonly isUndecided: (key: WorkloadKey) => boolean;
  /** Whether a namespace has left the scope, so that the catalog is to have nothing of it. Undefined: none ever does. */
  readonly isOutside?: ((namespace: string) => boolean) | undefined;
}

/** Keys of the rows that the catalog has of what is there no more. */
interface LeftOver {
  readonly sources: readonly SourceKey[];
  readonly workloads: readonly WorkloadKey[];
}

/** Finds what is pending and was lost on the way: at a fixed interval, and when a watcher takes the lead. */
export class Resyncer {
  readonly #context: ResyncerContext;
  readonly #ask: ResyncQuestions;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #leading = false;
  #isStopped = false;
  #resyncs = 0;
  /** Kinds of which objects were counted before. */
  #counted: string[] = [];

  constructor(context: ResyncerContext, questions: ResyncQuestions) {
    this.#context = context;
    this.#ask = questions;
  }

  /** Resyncs every interval from now on; a standby only counts what it sees. */
  start(): void {
    this.#timer ??= setInterval(() => this.#begin(), this.#context.interval);
  }

  /**
   * Begins to publish: asserts the whole catalog, removes what is no more, and resyncs. Rejects if Redis cannot
   * be read, and then nothing has begun.
   */
  async takeOver(term: string): Promise<void> {
    const { clusterState, publisher, rollouts } = this.#context;
    const { underWay, sources, workloads } = await this.#prepare();
    // The end has begun meanwhile, and nobody would await what begins now.
    if (this.#isStopped) return;
    publisher.lead(term);
    rollouts.takeOver(
      underWay,
      (key) => clusterState.workloads.has(key) || (this.#ask.isUndecided(key) ? undefined : false),
    );
    clusterState.removeLeftOver({ sources, workloads });
    clusterState.assertAll();
    this.#leading = true;
    await this.#running;
    this.#begin();
    await this.#running;
  }

  async #prepare(): Promise<LeftOver & { underWay: Iterable<RolloutEntry> }> {
    const { publisher, rollouts } = this.#context;
    publisher.prepare();
    try {
      return { ...(await this.#leftOver()), underWay: await rollouts.underWay() };
    } catch (error) {
      publisher.standBy();
      throw error;
    }
  }

  /** What is deleted, or leaves the scope, from `prepare` on, the outbox has. */
  async #leftOver(): Promise<LeftOver> {
    const { clusterState, catalog } = this.#context;
    const { isUndecided, isOutside } = this.#ask;
    const isUnknown = (key: WorkloadKey): boolean => !clusterState.workloads.has(key) && !isUndecided(key);
    const workloads = await keysOf(catalog.eachWorkload(isUnknown));
    const outside = isOutside ? await keysOf(catalog.eachSource((key) => isOutside(namespaceOf(key)))) : [];
    // This watcher dropped them when it was a standby, and the leader of then did not get to it.
    const deleted = await keysOf(
      catalog.eachSource((key) => !clusterState.sources.has(key)),
      ({ exists }) => !exists,
    );
    return { sources: [...outside, ...deleted], workloads };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearInterval(this.#timer);
    await this.#running;
  }

  #begin(): void {
    if (this.#isStopped) return;
    this.#running ??= this.#resync().finally(() => {
      this.#running = null;
    });
  }

  async #resync(): Promise<void> {
    const { clusterState, publisher, metrics } = this.#context;
    const end = metrics.resyncDuration.startTimer();
    await inTurns(clusterState.prune());
    if (this.#leading) {
      publisher.verify();
      this.#resyncs += 1;
      if (this.#resyncs % RESYNCS_BETWEEN_UNTOLD === 0) publisher.enqueueUntold();
      await inTurns(clusterState.resync());
      clusterState.enqueueRequested(await this.#ask.requested());
      publisher.kick();
    }
    end();
    await this.#count();
  }

  async #count(): Promise<void> {
    const { clusterState, metrics, interval } = this.#context;
    // A kind of which the last object is gone, with its API perhaps, has none: not as many as it had.
    const objects = new Map<string, number>(this.#counted.map((kind) => [kind, 0]));
    let contested = 0;
    const count = (key: Key<string>): void =>
      void objects.set(kindOf(key), (objects.get(kindOf(key)) ?? 0) + 1);
    await inTurns(slicesOf(clusterState.workloads, COUNTED_PER_TURN), {
      each: (slice) => {
        for (const [key, { conflict }] of slice) {
          count(key);
          if (isInConflict(conflict)) contested += 1;
        }
      },
    });
    await inTurns(slicesOf(clusterState.sources, COUNTED_PER_TURN), {
      each: (slice) => {
        for (const [key, { exists }] of slice) if (exists) count(key);
      },
    });
    for (const [kind, number] of objects) metrics.objects.set({ kind }, number);
    this.#counted = [...objects.keys()];
    const { workloads, oldest } = clusterState.pendingReloads(interval);
    metrics.contestedWorkloads.set(contested);
    metrics.pendingWorkloads.set(workloads);
    metrics.oldestPending.set(oldest / 1000);
  }
}

async function keysOf<ObjectKey, Row>(
  portions: AsyncIterable<readonly (readonly [ObjectKey, Row])[]>,
  isMeant: (row: Row) => boolean = () => true,
): Promise<ObjectKey[]> {
  const keys: ObjectKey[] = [];
  for await (const portion of portions) for (const [key, row] of portion) if (isMeant(row)) keys.push(key);
  return keys;
}
