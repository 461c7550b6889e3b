import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import type { SourceRow } from '@reroll/core/state/rows';
import { Inject, Injectable } from '@nestjs/common';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import { LOG } from '@reroll/nest/tokens';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { Queues } from '@reroll/redis/queue/queues';
import { RolloutSlots } from '@reroll/redis/queue/rollout-slots';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import { Leadership } from './leadership.service.ts';
import { giveBackMemorySoon } from '@reroll/shared/platform/process/memory';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { leftOverIn, type LeftOver } from './publish/left-over.ts';
import { Publisher } from './publish/publisher.ts';
import { Resyncer } from './resync/resyncer.ts';
import { StateMetrics, type StateMetricsContext } from './resync/state-metrics.ts';
import { watchQueues } from './queue-watch.ts';
import { RolloutWatch } from './rollout-watch.service.ts';
import { SlotGranter } from './rollouts/slot-granter.ts';
import { WATCHER_METRICS, WATCHER_OPTIONS } from './tokens.ts';
import type { Streams } from './watch/streams.ts';

/** Makes what writes a cluster state to the catalog and the queues. */
@Injectable()
export class Publishing {
  constructor(
    private readonly catalog: Catalog,
    private readonly queues: Queues,
    private readonly rollouts: RolloutWatch,
    private readonly slots: RolloutSlots,
    private readonly leadership: Leadership,
    @Inject(WATCHER_OPTIONS) private readonly options: WatcherOptions,
    @Inject(WATCHER_METRICS) private readonly metrics: WatcherMetrics,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  publisher(clusterState: ClusterState, streams: () => Streams): Publisher {
    const { catalog, queues, leadership, options, metrics, log } = this;
    const { publisher: rollouts } = this.rollouts;
    const { adoptionsPerSecond, webhookUrl } = options;
    const leftOver = this.#leftOver(clusterState, streams);
    // The garbage is as large as the catalog.
    const rewritten = giveBackMemorySoon;
    return new Publisher(
      { clusterState, catalog, queues, rollouts, metrics, log, leadership, leftOver, rewritten },
      { adoptionsPerSecond, notifyOnly: webhookUrl !== undefined },
    );
  }

  counts(known: Pick<StateMetricsContext, 'clusterState' | 'stale' | 'certificates'>): StateMetrics {
    const { options, metrics } = this;
    return new StateMetrics({ ...known, metrics, interval: options.sweepInterval });
  }

  resyncer(
    clusterState: ClusterState,
    publisher: Publisher,
    by: {
      streams: () => Streams;
      requested: () => Promise<readonly WorkloadKey[]>;
      counts: StateMetrics;
    },
  ): Resyncer {
    const { options, metrics } = this;
    const { publisher: rollouts } = this.rollouts;
    const { counts } = by;
    return new Resyncer(
      { clusterState, publisher, rollouts, counts, metrics, interval: options.sweepInterval },
      {
        requested: by.requested,
        isUndecided: (key) => by.streams().isUndecided(key),
        leftOver: this.#leftOver(clusterState, by.streams),
        sourcesInCatalog: (keys) => this.#untilFailure(this.#sourcesOf(keys)),
        templatesInCatalog: (keys) => this.#untilFailure(this.catalog.eachWorkloadOf(keys)),
      },
    );
  }

  async *#sourcesOf(keys: readonly SourceKey[]): AsyncGenerator<ReadonlyMap<SourceKey, SourceRow>> {
    yield await this.catalog.sources(keys);
  }

  async *#untilFailure<Rows>(portions: AsyncIterable<Rows>): AsyncGenerator<Rows | undefined> {
    try {
      yield* portions;
    } catch (error) {
      this.log.failure('cannot compare rows with the catalog, next try at the next resync', error);
      yield undefined;
    }
  }

  #leftOver(clusterState: ClusterState, streams: () => Streams): () => Promise<LeftOver> {
    const { catalog } = this;
    return () =>
      leftOverIn(
        { clusterState, catalog },
        {
          isUndecided: (key) => streams().isUndecided(key),
          isOutdated: (namespace) => streams().isOutdated(namespace),
        },
      );
  }

  /** Lets reloads go on that wait for others to be rolled out, until shutdown. */
  grantSlots(clusterState: ClusterState, lifecycle: Lifecycle): void {
    const { slots, queues, leadership, options, metrics, log } = this;
    const { tracker } = this.rollouts;
    const granter = new SlotGranter(
      {
        clusterState,
        tracker,
        slots,
        queues,
        metrics,
        log,
        term: () => (leadership.isLeader() ? leadership.term : undefined),
        refused: () => leadership.refused(),
        now: () => leadership.apiTime(),
      },
      { total: options.maxConcurrentRollouts || Infinity, isShared: options.namespaces.length !== 1 },
    );
    granter.start();
    lifecycle.onStop('slots', 2_000, () => granter.stop());
  }

  /** Measures the queues until shutdown. */
  watchQueues(lifecycle: Lifecycle): void {
    const { queues, metrics, log } = this;
    watchQueues({ queues, metrics, log, lifecycle });
  }
}
