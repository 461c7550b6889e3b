import { RuntimeLimits } from '@reroll/redis/processes/limits';
import { Heartbeat } from '@reroll/redis/processes/heartbeat';
import { Processes, type ProcessEntry, type ProcessSettings } from '@reroll/redis/processes/processes';
import type { RedisRoom } from '@reroll/redis/connection/redis-room';
import type { RateBudget } from '@reroll/redis/processes/rate';
import { decisionSettings } from '@reroll/shared/platform/options/decision-settings';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { adoptStaleOf, triggersOf } from '@reroll/shared/platform/options/triggers';
import { VERSION } from '@reroll/shared/platform/process/version';
import type { WorkerContext } from './lifecycle.ts';

/** What is limited at run time. */
export interface Limited {
  /** Takes jobs of a queue. */
  readonly takers: readonly { concurrency: number }[];
  readonly budget: RateBudget;
  readonly room: RedisRoom;
}

/** Sends this worker's heartbeat until it ends, and applies the runtime limits at each beat. */
export function startHeartbeat(context: WorkerContext, { takers, budget, room }: Limited): void {
  const { options, redis, catalog, metrics, log, lifecycle } = context;
  const limits = new RuntimeLimits(redis, catalog.keys.limits);
  const { concurrency, maxReloadsPerMinute: reloadsPerMinute } = options;
  const flags = { concurrency, reloadsPerMinute };
  let inForce: typeof flags = flags;
  const same = { startedAt: Date.now(), settings: settingsOf(options) };
  const entry = (): Omit<ProcessEntry, 'seenAt'> => ({
    app: 'worker',
    name: options.podName,
    version: VERSION,
    ...same,
    ...inForce,
    ...(room.isFull ? { redisFull: true } : {}),
  });
  const heartbeat = new Heartbeat({
    processes: new Processes(redis, catalog.keys.processes),
    entry,
    also: async () => {
      await room.look();
      const wanted = { ...flags, ...(await limits.get()) };
      if (isSame(wanted, inForce)) return;
      inForce = wanted;
      for (const taker of takers) taker.concurrency = wanted.concurrency;
      budget.setPerMinute(wanted.reloadsPerMinute);
      log.info('runtime limits changed', wanted);
    },
    onError: (error) => {
      room.failed(error);
      metrics.heartbeatErrors.inc();
      log.failure('heartbeat failed, retrying', error);
    },
  });
  lifecycle.onStop('heartbeat', 1_000, () => heartbeat.stop());
}

function isSame(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): boolean {
  return a['concurrency'] === b['concurrency'] && a['reloadsPerMinute'] === b['reloadsPerMinute'];
}

function settingsOf(options: WorkerOptions): ProcessSettings {
  return {
    decision: decisionSettings(options),
    triggers: triggersOf(options),
    adoptStale: adoptStaleOf(options),
    dryRun: options.dryRun,
    notifyOnly: options.webhookUrl !== undefined,
  };
}
