import { Controller } from '@nestjs/common';
import type { Limits } from '@reroll/shared/api/queues';
import { RuntimeLimits } from '@reroll/redis/processes/limits';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Serves } from '../http/serves.ts';
import { mustSteer } from '../steering/must.ts';
import { Writes } from '../steering/writes.ts';

@Controller()
export class LimitsController {
  constructor(
    private readonly limits: RuntimeLimits,
    private readonly writes: Writes,
  ) {}

  @Serves('getLimits')
  async get(_input: Input<'getLimits'>): Promise<AnswerOf<'getLimits'>> {
    return limitsView(await this.limits.get());
  }

  @Serves('setLimits')
  async set(input: Input<'setLimits'>): Promise<AnswerOf<'setLimits'>> {
    const { reason: _reason, ...limits } = input.body;
    return await this.writes.perform(input, {
      action: 'setLimits',
      target: Object.entries(limits)
        .map(([name, value]) => `${name}=${value ?? 'unset'}`)
        .join(' '),
      allow: () => mustSteer(input.caller),
      run: async () => {
        await this.limits.set(limits);
        return limitsView(await this.limits.get());
      },
      answer: (now) => now,
    });
  }
}

function limitsView(limits: Awaited<ReturnType<RuntimeLimits['get']>>): Limits {
  return { concurrency: limits.concurrency ?? null, reloadsPerMinute: limits.reloadsPerMinute ?? null };
}
