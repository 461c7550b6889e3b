import { Inject, Injectable } from '@nestjs/common';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import { Heartbeats, type RoleEntry } from '@reroll/nest/heartbeats';
import { RedisRoom } from '@reroll/redis/connection/redis-room';
import { Processes } from '@reroll/redis/processes/processes';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import { Leadership } from './leadership.service.ts';
import { WATCHER_OPTIONS } from './tokens.ts';

/** This watcher's heartbeat. The leader also removes the entries of processes that died long ago. */
@Injectable()
export class WatcherHeartbeat {
  constructor(
    private readonly heartbeats: Heartbeats,
    private readonly processes: Processes,
    private readonly room: RedisRoom,
    private readonly leadership: Leadership,
    @Inject(WATCHER_OPTIONS) private readonly options: WatcherOptions,
  ) {}

  start(clusterState: ClusterState): void {
    const { heartbeats, processes, leadership } = this;
    heartbeats.start(
      () => this.#entry(clusterState),
      async () => {
        if (leadership.isLeader()) await processes.removeDead();
      },
    );
  }

  #entry(clusterState: ClusterState): RoleEntry {
    const leader = this.leadership.isLeader();
    return {
      app: 'watcher',
      leader,
      synced: this.leadership.state.isSynced(),
      ...(this.room.isFull ? { redisFull: true } : {}),
      ...(leader ? { owed: this.#pendingNow(clusterState) } : {}),
    };
  }

  #pendingNow(clusterState: ClusterState): NonNullable<RoleEntry['owed']> {
    const { workloads, oldest } = clusterState.pendingReloads(this.options.sweepInterval);
    return { workloads, since: workloads === 0 ? null : Date.now() - oldest };
  }
}
