import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import type { RolloutsWritten } from '@reroll/redis/history/rollouts';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import type { TemplateFacts } from '@reroll/core/state/doubts';
import type { SourceRow } from '@reroll/core/state/rows';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { inTurns } from '../watch/in-turns.ts';
import type { LeftOver } from '../publish/left-over.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { RolloutPublisher } from '../rollouts/rollout-publisher.ts';
import type { StateMetrics } from './state-metrics.ts';

/** Every this many resyncs, about an hour, recorded changes that may have no job get another one. */
const RESYNCS_BETWEEN_UNTOLD = 64;

export interface ResyncerContext {
  readonly clusterState: ClusterState;
  readonly publisher: Publisher;
  readonly rollouts: RolloutPublisher;
  readonly counts: Pick<StateMetrics, 'count'>;
  readonly metrics: WatcherMetrics;
  /** Milliseconds. */
  readonly interval: number;
}

export interface ResyncQuestions {
  /** Workloads whose manual reload was requested and not done; empty if Redis cannot be read. */
  readonly requested: () => Promise<readonly WorkloadKey[]>;
  /** Whether it is still unknown if the workload exists. */
  readonly isUndecided: (key: WorkloadKey) => boolean;
  /** Rows of the catalog for objects that no longer exist. Rejects if Redis cannot be read. */
  readonly leftOver: () => Promise<LeftOver>;
  /** The rows of sources in the catalog. */
  readonly sourcesInCatalog: (keys: readonly SourceKey[]) => Portions<SourceKey, SourceRow>;
  /** What the catalog says of pod templates. */
  readonly templatesInCatalog: (keys: readonly WorkloadKey[]) => Portions<WorkloadKey, TemplateFacts>;
}

/** Ends with undefined if Redis cannot be read. */
type Portions<Key, Row> = AsyncIterable<ReadonlyMap<Key, Row> | undefined>;

/** Enqueues again what is pending: at a fixed interval, and when this watcher becomes the leader. */
export class Resyncer {
  readonly #context: ResyncerContext;
  readonly #ask: ResyncQuestions;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #leading = false;
  #isStopped = false;
  #resyncs = 0;

  constructor(context: ResyncerContext, questions: ResyncQuestions) {
    this.#context = context;
    this.#ask = questions;
  }

  /** Resyncs every interval from now on. A standby only settles doubts and counts what it sees. */
  start(): void {
    this.#timer ??= setInterval(() => {
      this.#context.clusterState.intervalPassed();
      this.#begin();
    }, this.#context.interval);
  }

  /** Resyncs now, unless a resync is under way: Redis was away, and may have lost what it had. */
  kick(): void {
    if (this.#leading) this.#begin();
  }

  /**
   * Starts to publish: rewrites the whole catalog, removes what no longer exists, and resyncs. Rejects if Redis
   * cannot be read; nothing has started then.
   */
  async takeOver(term: string): Promise<void> {
    const { clusterState, publisher, rollouts } = this.#context;
    const { left, sources, workloads } = await this.#prepare();
    // Shutdown began meanwhile, and nothing would await the resync.
    if (this.#isStopped) return;
    publisher.lead(term);
    rollouts.takeOver(
      left,
      (key) => clusterState.workloads.has(key) || (this.#ask.isUndecided(key) ? undefined : false),
    );
    clusterState.removeLeftOver({ sources, workloads });
    clusterState.assertAll();
    this.#leading = true;
    await this.#running;
    this.#begin();
    await this.#running;
  }

  async #prepare(): Promise<LeftOver & { left: RolloutsWritten }> {
    const { publisher, rollouts } = this.#context;
    publisher.prepare();
    try {
      // What is deleted or leaves the scope after `prepare` is in the outbox.
      return { ...(await this.#ask.leftOver()), left: await rollouts.written() };
    } catch (error) {
      publisher.standBy();
      throw error;
    }
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
    const { clusterState, publisher, counts, metrics } = this.#context;
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
    await this.#settleDoubts();
    await counts.count();
  }

  async #settleDoubts(): Promise<void> {
    const { doubts } = this.#context.clusterState;
    const { sourcesInCatalog, templatesInCatalog } = this.#ask;
    let isAny = false;
    for await (const rows of this.#read(doubts.sources(), sourcesInCatalog))
      if (doubts.settleSources(rows)) isAny = true;
    if (isAny) await inTurns(doubts.judge());
    // The workloads' rows in the catalog are the leader's own.
    if (this.#leading) return;
    for await (const rows of this.#read(doubts.workloads(), templatesInCatalog))
      await inTurns(doubts.settleTemplates(rows));
  }

  /**
   * Yields the rows of the keys in the catalog, in portions. Ends early if this watcher stops, or begins to lead, which waits for this
   * resync and then begins another one.
   */
  async *#read<Key, Row>(
    found: Iterable<readonly Key[]>,
    inCatalog: (keys: readonly Key[]) => Portions<Key, Row>,
  ): AsyncGenerator<ReadonlyMap<Key, Row>, void, void> {
    const isLeading = this.#leading;
    for (const keys of found) {
      await nextTurn();
      if (keys.length === 0) continue;
      for await (const rows of inCatalog(keys)) {
        if (!rows || this.#isStopped || this.#leading !== isLeading) return;
        yield rows;
      }
    }
  }
}
