import type { RedisRoom } from '@reroll/redis/connection/redis-room';
import { Heartbeat } from '@reroll/redis/processes/heartbeat';
import type { Processes, ProcessEntry } from '@reroll/redis/processes/processes';
import { heartbeatErrors } from '@reroll/shared/platform/metrics/shared';
import type { RedisReports } from '@reroll/shared/platform/process/redis-reports';
import { VERSION } from '@reroll/shared/platform/process/version';
import type { Process } from './process.ts';

/** What a role adds to the heartbeat. */
export type RoleEntry = Omit<ProcessEntry, 'seenAt' | 'name' | 'version' | 'startedAt'>;

export interface HeartbeatsContext {
  readonly process: Process;
  readonly processes: Processes;
  readonly room: RedisRoom;
  /** Told of each heartbeat. */
  readonly reports: Pick<RedisReports, 'onBeat'>;
}

/** Sends the heartbeats of the roles of a process. */
export class Heartbeats {
  readonly #context: HeartbeatsContext;

  constructor(context: HeartbeatsContext) {
    this.#context = context;
  }

  /** Sends heartbeats until the process ends. Calls `also` at every beat, after the check of Redis' memory. */
  start(entry: () => RoleEntry, also?: () => Promise<void>): void {
    const { process, processes, room, reports } = this.#context;
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
      onBeat: () => reports.onBeat(true),
      onError: (error) => {
        room.failed(error);
        errors.inc();
        reports.onBeat(false);
        log.failure('heartbeat failed, retrying', error);
      },
    });
    lifecycle.onStop('heartbeat', 1_000, () => heartbeat.stop());
  }
}
