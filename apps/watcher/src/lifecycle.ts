import { setTimeout as pause } from 'node:timers/promises';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { Processes } from '@reroll/redis/processes/processes';
import type { RedisRoom } from '@reroll/redis/connection/redis-room';
import type { ReloadRequests } from '@reroll/redis/catalog/requests';
import type { RolloutWriter } from '@reroll/redis/history/rollout-writer';
import { ClusterState } from '@reroll/core/state/cluster-state';
import { RolloutTracker } from '@reroll/core/rollouts/rollout-tracker';
import type { Rv } from '@reroll/core/rv';
import type { EventRecorder } from '@reroll/kube/kube-events';
import { LeaderElector } from '@reroll/kube/lease/lease';
import { giveBackMemory } from '@reroll/shared/platform/process/memory';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import type { Queues } from '@reroll/redis/queue/queues';
import { ADOPTED_AT, readAdoptedAt } from './resync/adoption.ts';
import { startHeartbeat } from './heartbeat.ts';
import { Publisher } from './publish/publisher.ts';
import { watchQueues } from './queue-watch.ts';
import { OlderObjects } from './watch/older-objects.ts';
import { beginAnew } from './publish/restored-etcd.ts';
import { RolloutPublisher } from './rollouts/rollout-publisher.ts';
import { RolloutSightings } from './rollouts/rollout-sightings.ts';
import { chosenByLabels } from './watch/scope.ts';
import type { WatcherState } from './state.ts';
import { SourceEvaluator } from './publish/source-evaluator.ts';
import { StuckPods } from './rollouts/stuck-pods.ts';
import { Streams } from './watch/streams.ts';
import type { StreamsContext } from './watch/kind-streams.ts';
import { Resyncer } from './resync/resyncer.ts';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { triggersOf } from '@reroll/shared/platform/options/triggers';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';

export interface WatcherContext extends Omit<StreamsContext, 'olderObjects'> {
  readonly catalog: Catalog;
  readonly room: RedisRoom;
  readonly rolloutWriter: RolloutWriter;
  readonly processes: Processes;
  readonly requests: ReloadRequests;
  readonly events: EventRecorder;
  /** The term of the leader that had written last when this process began; '0': none. */
  readonly earlierTerm: Rv;
  readonly queues: Queues;
  readonly lifecycle: Lifecycle;
  readonly state: WatcherState;
  readonly metrics: WatcherMetrics;
  readonly log: Logger;
}

/** A start that takes longer than this says so, and goes on. */
const PATIENCE = 30_000;
const RETRY = 500;

/**
 * What a watcher does, in this order:
 *
 * 1. become a candidate for the Lease; a standby goes on all the same, to be warm when it is needed;
 * 2. learn since when the cluster is adopted, from the Lease, where its first leader ever wrote it;
 * 3. stream sources, then workloads, into the cluster state;
 * 4. once both the Lease is ours and the streams are complete: assert the catalog, resync, publish.
 *
 * The end runs backwards: stop publishing, stop the streams, give the Lease back.
 */
export async function runWatcher(context: WatcherContext): Promise<void> {
  const { decision, lifecycle, log, state } = context;
  const elector = candidate(context);
  const adoptedAt = await adoption(context);
  if (adoptedAt === undefined) return;
  const triggers = triggersOf(context.options);
  const clusterState = new ClusterState({ decision, adoptedAt, triggers, evaluatesLater: true });
  startHeartbeat(context, { clusterState, isLeader: () => elector.isLeader() });
  const tracker = new RolloutTracker();
  const rollouts = new RolloutPublisher(tracker, context.rolloutWriter);
  const publisher = publisherOf(context, { clusterState, rollouts }, elector);
  const resyncer = new Resyncer({
    clusterState,
    catalog: context.catalog,
    publisher,
    rollouts,
    requested: () => requestedOf(context),
    metrics: context.metrics,
    interval: context.options.sweepInterval,
    isUndecided: (key) => streams.isUndecided(key),
    isOutside: chosenByLabels(context.options) && ((namespace) => streams.isOutside(namespace)),
  });
  const stuckPods = new StuckPods({
    ...context,
    tracker,
    isLeader: () => state.isLeading && elector.isLeader(),
    changed: () => publisher.kick(),
  });
  const sightings = new RolloutSightings(clusterState, tracker, stuckPods);
  const evaluator = new SourceEvaluator(clusterState.evaluation, () => publisher.kick());
  const streams = new Streams(streamsContext(context, elector), { clusterState, rollouts: sightings }, () =>
    evaluator.kick(),
  );
  stopAtTheEnd(lifecycle, { publisher, resyncer, stuckPods, evaluator, streams });
  await streams.start({
    signal: lifecycle.signal,
    patience: PATIENCE,
    onSlow: (what) => log.warning(`still waiting for the first complete list of ${what}`),
  });
  if (lifecycle.signal.aborted) return;
  resyncer.start();
  state.followStreams(() => streams.isSynced());
  giveBackMemory();
  log.info('in sync', { sources: clusterState.sources.size, workloads: clusterState.workloads.size });
  await state.whenLeading(lifecycle.signal);
  if (!elector.leadership) return;
  watchQueues(context);
  await takeOver(context, resyncer, elector.leadership.term);
  stuckPods.kick();
}

/** In this order. */
function stopAtTheEnd(
  lifecycle: Lifecycle,
  by: {
    publisher: Publisher;
    resyncer: Resyncer;
    stuckPods: StuckPods;
    evaluator: SourceEvaluator;
    streams: Streams;
  },
): void {
  lifecycle.onStop('publisher', 5_000, () => by.publisher.stop());
  lifecycle.onStop('resyncer', 5_000, () => by.resyncer.stop());
  lifecycle.onStop('pods of stuck rollouts', 5_000, () => by.stuckPods.stop());
  lifecycle.onStop('evaluation of sources', 5_000, () => by.evaluator.stop());
  lifecycle.onStop('streams', 5_000, () => by.streams.stop(3_000));
}

function streamsContext(context: WatcherContext, elector: LeaderElector): StreamsContext {
  const olderObjects = new OlderObjects({
    ...context,
    signal: context.lifecycle.signal,
    onRestored: (object) => {
      const fence = elector.retire();
      if (fence !== undefined) void beginAnew(context, { ...object, fence });
    },
  });
  return { ...context, olderObjects };
}

/** Nothing is lost if Redis cannot be asked: the next resync does. */
async function requestedOf({ requests, log }: WatcherContext): Promise<readonly string[]> {
  try {
    return await requests.workloads();
  } catch (error) {
    log.failure('cannot read the requested reloads', error);
    return [];
  }
}

async function takeOver({ lifecycle, log }: WatcherContext, resyncer: Resyncer, term: string): Promise<void> {
  while (!lifecycle.signal.aborted) {
    try {
      await resyncer.takeOver(term);
      giveBackMemory();
      log.info('became leader, starting controllers', { term });
      return;
    } catch (error) {
      log.failure('takeover failed, retrying', error);
      await pause(RETRY, undefined, { signal: lifecycle.signal }).catch(() => undefined);
    }
  }
}

function publisherOf(
  context: WatcherContext,
  of: { clusterState: ClusterState; rollouts: RolloutPublisher },
  elector: LeaderElector,
): Publisher {
  const { lifecycle } = context;
  return new Publisher({
    ...context,
    ...of,
    adoptionsPerSecond: context.options.adoptionsPerSecond,
    notifyOnly: context.options.webhookUrl !== undefined,
    isLeader: () => elector.isLeader(),
    onRefused: () => void lifecycle.stop('no longer leader, shutting down: a newer leader has written', 1),
  });
}

function candidate(context: WatcherContext): LeaderElector {
  const { client, options, lifecycle, log, state, earlierTerm } = context;
  const elector = new LeaderElector({
    client,
    namespace: options.podNamespace,
    name: options.leaseName,
    identity: options.podName,
    adoptedAtAnnotation: ADOPTED_AT,
    earlierTerm,
    leaseDurationMs: options.leaseDuration,
    renewDeadlineMs: options.leaseRenewDeadline,
    retryPeriodMs: options.leaseRetryPeriod,
    callbacks: {
      onAcquired: ({ term }) => {
        log.info('acquired the Lease', { term });
        // The words of stakater/Reloader for a new holder that is itself.
        log.info('still the leader!');
        state.lead();
      },
      onLost: (reason) => {
        log.info('no longer leader, shutting down');
        void lifecycle.stop(`no longer leader, shutting down: ${reason}`, 1);
      },
      onStandby: (holder) => log.info(`new leader is ${holder}`),
      onError: (error) => log.failure('acquiring or renewing the Lease failed', error),
      onRestored: (restored) => void beginAnew(context, { ...restored, fence: restored.seenNow }),
    },
  });
  lifecycle.onStop('lease', 3_000, () => elector.stop(2_500));
  elector.start();
  return elector;
}

/** Undefined only if the end has begun. */
async function adoption({ client, options, lifecycle, log }: WatcherContext): Promise<number | undefined> {
  const lease = { namespace: options.podNamespace, name: options.leaseName };
  for (let attempt = 1; !lifecycle.signal.aborted; attempt += 1) {
    try {
      const adoptedAt = await readAdoptedAt(client, lease);
      if (adoptedAt !== undefined) return adoptedAt;
    } catch (error) {
      if (attempt % 20 === 0) log.failure('the Lease cannot be read yet', error);
    }
    await pause(RETRY / 5, undefined, { signal: lifecycle.signal }).catch(() => undefined);
  }
  return undefined;
}
