import { Inject, Injectable } from '@nestjs/common';
import { Heartbeats } from '@reroll/nest/heartbeats';
import { LOG } from '@reroll/nest/tokens';
import { RedisRoom } from '@reroll/redis/connection/redis-room';
import { RuntimeLimits } from '@reroll/redis/processes/limits';
import { RateBudget } from '@reroll/redis/processes/rate';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { explainSettings } from '@reroll/shared/platform/options/explain-settings';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { WORKER_OPTIONS } from './tokens.ts';

interface Limits {
  readonly concurrency: number;
  readonly reloadsPerMinute: number;
}

/** This worker's heartbeat. Each beat also applies the runtime limits. */
@Injectable()
export class WorkerHeartbeat {
  constructor(
    private readonly heartbeats: Heartbeats,
    private readonly limits: RuntimeLimits,
    private readonly room: RedisRoom,
    private readonly budget: RateBudget,
    @Inject(WORKER_OPTIONS) private readonly options: WorkerOptions,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** `takers` take the jobs of the queues. */
  start(takers: readonly { concurrency: number }[]): void {
    const { heartbeats, limits, room, budget, options, log } = this;
    const { concurrency, maxReloadsPerMinute: reloadsPerMinute } = options;
    const flags: Limits = { concurrency, reloadsPerMinute };
    let inForce = flags;
    const settings = explainSettings(options);
    const redisFull = (): object => (room.isFull ? { redisFull: true } : {});
    heartbeats.start(
      () => ({ app: 'worker', settings, ...inForce, ...redisFull() }),
      async () => {
        const wanted = { ...flags, ...(await limits.get()) };
        if (isSame(wanted, inForce)) return;
        inForce = wanted;
        for (const taker of takers) taker.concurrency = wanted.concurrency;
        budget.setPerMinute(wanted.reloadsPerMinute);
        log.info('runtime limits changed', { ...wanted });
      },
    );
  }
}

function isSame(a: Limits, b: Limits): boolean {
  return a.concurrency === b.concurrency && a.reloadsPerMinute === b.reloadsPerMinute;
}
