import type { WorkloadKey } from '@reroll/core/model';
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CertificateDates } from '@reroll/core/certificates/certificate-dates';
import { ClusterState } from '@reroll/core/state/cluster-state';
import { Process } from '@reroll/nest/process';
import { RedisConnection } from '@reroll/nest/redis.module';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { giveBackMemorySoon, growHeapSlowly } from '@reroll/shared/platform/process/memory';
import { decisionSettings } from '@reroll/shared/platform/options/decision-settings';
import { triggersOf } from '@reroll/shared/platform/options/triggers';
import { WatcherHeartbeat } from './heartbeat.service.ts';
import { Leadership } from './leadership.service.ts';
import { SourceEvaluator } from './publish/source-evaluator.ts';
import { Publishing } from './publishing.service.ts';
import type { Resyncer } from './resync/resyncer.ts';
import { RolloutWatch } from './rollout-watch.service.ts';
import type { StuckPods } from './rollouts/stuck-pods.ts';
import { STREAMS } from './tokens.ts';
import type { StreamsContext } from './watch/kind-streams.ts';
import { Streams } from './watch/streams.ts';

/** Milliseconds after which a start that takes long is logged, again and again. */
const PATIENCE = 30_000;
const RETRY = 500;

interface Running {
  readonly clusterState: ClusterState;
  readonly streams: Streams;
  readonly resyncer: Resyncer;
  readonly stuckPods: StuckPods;
}

/**
 * Runs a watcher, in this order:
 *
 * 1. Compete for the Lease. A standby goes on all the same, to be warm when it is needed.
 * 2. Read from the Lease when the cluster was adopted; the first leader of the install wrote it there.
 * 3. Stream sources, then workloads, into the cluster state.
 * 4. Once this watcher holds the Lease and the streams are complete: rewrite the catalog, resync, publish.
 *
 * Shutdown runs backwards: stop publishing, stop the streams, release the Lease.
 */
@Injectable()
export class WatcherService implements OnApplicationBootstrap {
  constructor(
    private readonly process: Process,
    private readonly leadership: Leadership,
    private readonly heartbeat: WatcherHeartbeat,
    private readonly publishing: Publishing,
    private readonly rollouts: RolloutWatch,
    @Inject(STREAMS) private readonly context: StreamsContext,
    private readonly requests: ReloadRequests,
    private readonly redis: RedisConnection,
  ) {}

  /** Runs in the background, so that other roles of the process do not wait until this watcher leads. */
  onApplicationBootstrap(): void {
    this.#run().catch((error: unknown) => this.process.startFailed(error));
  }

  async #run(): Promise<void> {
    const { leadership } = this;
    const { lifecycle } = this.process;
    leadership.begin();
    const adoption = await leadership.adoption();
    if (!adoption) return;
    const { options } = this.context;
    const decision = decisionSettings(options);
    const triggers = triggersOf(options);
    const clusterState = new ClusterState({ decision, ...adoption, triggers, evaluatesLater: true });
    this.heartbeat.start(clusterState);
    const running = this.#connect(clusterState);
    await this.#sync(running);
    if (lifecycle.signal.aborted) return;
    await leadership.state.whenLeading(lifecycle.signal);
    const { term } = leadership;
    if (term === undefined) return;
    this.publishing.watchQueues(lifecycle);
    await this.#takeOver(running.resyncer, term);
    if (lifecycle.signal.aborted) return;
    const { streams } = running;
    leadership.watches(() => streams.isSynced() && clusterState.outbox.isEmpty());
    this.publishing.grantSlots(clusterState, lifecycle);
    running.stuckPods.kick();
  }

  /** Connects the streams to the cluster state, and the cluster state to the publisher. */
  #connect(clusterState: ClusterState): Running {
    const { publishing, rollouts, context } = this;
    const publisher = publishing.publisher(clusterState, () => streams);
    const certificates = new CertificateDates();
    const stale = rollouts.stale(clusterState);
    const counts = publishing.counts({ clusterState, stale, certificates });
    const by = { streams: (): Streams => streams, requested: () => this.#requested(), counts };
    const resyncer = publishing.resyncer(clusterState, publisher, by);
    const stuckPods = rollouts.stuckPods(() => publisher.kick());
    const evaluator = new SourceEvaluator(clusterState.evaluation, () => publisher.kick());
    const sightings = rollouts.sightings(clusterState, stale, stuckPods);
    const into = { clusterState, certificates, rollouts: sightings };
    const streams = new Streams(context, into, () => evaluator.kick());
    const { lifecycle } = this.process;
    lifecycle.onStop('publisher', 5_000, () => publisher.stop());
    lifecycle.onStop('resyncer', 5_000, () => resyncer.stop());
    lifecycle.onStop('pods of stuck rollouts', 5_000, () => stuckPods.stop());
    lifecycle.onStop('evaluation of sources', 5_000, () => evaluator.stop());
    lifecycle.onStop('streams', 5_000, () => streams.stop(3_000));
    return { clusterState, streams, resyncer, stuckPods };
  }

  async #sync({ clusterState, streams, resyncer }: Running): Promise<void> {
    const { lifecycle, log } = this.process;
    growHeapSlowly();
    await streams.start({
      signal: lifecycle.signal,
      patience: PATIENCE,
      onSlow: (what) => log.warning(`still waiting for the first complete list of ${what}`),
    });
    if (lifecycle.signal.aborted) return;
    resyncer.start();
    this.redis.onConnected(() => resyncer.kick());
    this.leadership.state.followStreams(() => streams.isSynced());
    giveBackMemorySoon();
    log.info('in sync', { sources: clusterState.sources.size, workloads: clusterState.workloads.size });
  }

  /** Returns nothing if Redis cannot be read: the next resync asks again. */
  async #requested(): Promise<readonly WorkloadKey[]> {
    try {
      return await this.requests.workloads();
    } catch (error) {
      this.process.log.failure('cannot read the requested reloads', error);
      return [];
    }
  }

  async #takeOver(resyncer: Resyncer, term: string): Promise<void> {
    const { lifecycle, log } = this.process;
    while (!lifecycle.signal.aborted) {
      try {
        await resyncer.takeOver(term);
        if (lifecycle.signal.aborted) return;
        log.info('became leader, starting controllers', { term });
        return;
      } catch (error) {
        log.failure('takeover failed, retrying', error);
        await pause(RETRY, undefined, { signal: lifecycle.signal }).catch(() => undefined);
      }
    }
  }
}
