import { Heartbeat } from '@reroll/redis/processes/heartbeat';
import type { ProcessEntry } from '@reroll/redis/processes/processes';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import { VERSION } from '@reroll/shared/platform/process/version';
import type { WatcherContext } from './lifecycle.ts';

/** Sends this watcher's heartbeat until it ends. The leader also removes the entries of processes that died long ago. */
export function startHeartbeat(
  context: WatcherContext,
  by: { clusterState: ClusterState; isLeader: () => boolean },
): void {
  const { options, processes, room, state, metrics, log, lifecycle } = context;
  const startedAt = Date.now();
  const entry = (): Omit<ProcessEntry, 'seenAt'> => {
    const leader = by.isLeader();
    return {
      app: 'watcher',
      name: options.podName,
      version: VERSION,
      startedAt,
      leader,
      synced: state.isSynced(),
      ...(room.isFull ? { redisFull: true } : {}),
      ...(leader ? { owed: pendingNow(by.clusterState, options.sweepInterval) } : {}),
    };
  };
  const heartbeat = new Heartbeat({
    processes,
    entry,
    also: async () => {
      await room.look();
      if (by.isLeader()) await processes.removeDead();
    },
    onError: (error) => {
      room.failed(error);
      metrics.heartbeatErrors.inc();
      log.failure('heartbeat failed, retrying', error);
    },
  });
  lifecycle.onStop('heartbeat', 1_000, () => heartbeat.stop());
}

function pendingNow(clusterState: ClusterState, interval: number): NonNullable<ProcessEntry['owed']> {
  const { workloads, oldest } = clusterState.pendingReloads(interval);
  return { workloads, since: workloads === 0 ? null : Date.now() - oldest };
}
