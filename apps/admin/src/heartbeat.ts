import { Heartbeat } from '@reroll/redis/processes/heartbeat';
import type { Processes } from '@reroll/redis/processes/processes';
import type { RedisRoom } from '@reroll/redis/connection/redis-room';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { VERSION } from '@reroll/shared/platform/process/version';

export interface HeartbeatOf {
  readonly processes: Processes;
  readonly name: string;
  readonly room: RedisRoom;
  readonly metrics: AdminMetrics;
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
}

/** Sends this admin's heartbeat until it ends. */
export function startHeartbeat({ processes, name, room, metrics, lifecycle, log }: HeartbeatOf): void {
  const startedAt = Date.now();
  const heartbeat = new Heartbeat({
    processes,
    entry: () => ({ app: 'admin', name, version: VERSION, startedAt }),
    also: () => room.look(),
    onError: (error) => {
      room.failed(error);
      metrics.heartbeatErrors.inc();
      log.failure('heartbeat failed, retrying', error);
    },
  });
  lifecycle.onStop('heartbeat', 1_000, () => heartbeat.stop());
}
