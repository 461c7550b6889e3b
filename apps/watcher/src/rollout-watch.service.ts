import { Inject, Injectable } from '@nestjs/common';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import { RolloutTracker } from '@reroll/core/rollouts/rollout-tracker';
import { StaleRollouts } from '@reroll/core/rollouts/stale-rollouts';
import { KubeClient } from '@reroll/kube/client/connection';
import { LOG } from '@reroll/nest/tokens';
import { RolloutWriter } from '@reroll/redis/history/rollout-writer';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { Leadership } from './leadership.service.ts';
import { RolloutPublisher } from './rollouts/rollout-publisher.ts';
import { RolloutSightings } from './rollouts/rollout-sightings.ts';
import { StuckPods } from './rollouts/stuck-pods.ts';
import { WATCHER_METRICS } from './tokens.ts';

/** Observes the rollouts that follow reloads, and publishes them. */
@Injectable()
export class RolloutWatch {
  readonly tracker = new RolloutTracker();
  readonly publisher: RolloutPublisher;

  constructor(
    private readonly client: KubeClient,
    @Inject(WATCHER_METRICS) private readonly metrics: WatcherMetrics,
    @Inject(LOG) private readonly log: Logger,
    private readonly leadership: Leadership,
    writer: RolloutWriter,
  ) {
    this.publisher = new RolloutPublisher(this.tracker, writer);
  }

  /** `changed` is called after each update of the tracker. */
  stuckPods(changed: () => void): StuckPods {
    const { client, metrics, log, leadership } = this;
    const isLeader = (): boolean => leadership.state.isLeading && leadership.isLeader();
    return new StuckPods({ client, metrics, log, tracker: this.tracker, isLeader, changed });
  }

  stale(clusterState: ClusterState): StaleRollouts {
    return new StaleRollouts(clusterState, this.tracker.tracked);
  }

  sightings(clusterState: ClusterState, stale: StaleRollouts, stuckPods: StuckPods): RolloutSightings {
    return new RolloutSightings(clusterState, { tracker: this.tracker, stale }, stuckPods);
  }
}
