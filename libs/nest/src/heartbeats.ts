import { Injectable } from '@nestjs/common';
import { RedisRoom } from '@reroll/redis/connection/redis-room';
import { Heartbeat } from '@reroll/redis/processes/heartbeat';
import { Processes, type ProcessEntry } from '@reroll/redis/processes/processes';
import { heartbeatErrors } from '@reroll/shared/platform/metrics/shared';
import { VERSION } from '@reroll/shared/platform/process/version';
import { Process } from './process.ts';

/** What a role adds to the heartbeat. */
export type RoleEntry = Omit<ProcessEntry, 'seenAt' | 'name' | 'version' | 'startedAt'>;

/** Sends the heartbeats of the roles of a process. */
@Injectable()
export class Heartbeats {
  constructor(
    private readonly process: Process,
    private readonly processes: Processes,
    private readonly room: RedisRoom,
  ) {}

  /** Sends heartbeats until the process ends. Calls `also` at every beat, after the check of Redis' memory. */
  start(entry: () => RoleEntry, also?: () => Promise<void>): void {
    const { process, processes, room } = this;
    const { options, log, lifecycle } = process;
    const same = { name: options.podName, version: VERSION, startedAt: Date.now() };
    const errors = heartbeatErrors(process.registry);
    const heartbeat = new Heartbeat({
      processes,
      entry: () => ({ ...same, ...entry() }),
      also: async () => {
        await room.look();
        await also?.();
      },
      onError: (error) => {
        room.failed(error);
        errors.inc();
        log.failure('heartbeat failed, retrying', error);
      },
    });
    lifecycle.onStop('heartbeat', 1_000, () => heartbeat.stop());
  }
}
