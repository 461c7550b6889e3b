import { Controller } from '@nestjs/common';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Serves } from '../http/serves.ts';
import { HoldWrites } from '../steering/hold-writes.service.ts';
import { Writes } from '../steering/writes.ts';

type Accepted = AnswerOf<'freezeWorkload'>;

@Controller()
export class HoldsController {
  constructor(
    private readonly holds: HoldWrites,
    private readonly writes: Writes,
  ) {}

  @Serves('freezeWorkload')
  async freeze(input: Input<'freezeWorkload'>): Promise<Accepted> {
    return await this.writes.perform(input, this.holds.freezeWorkload(input));
  }

  @Serves('unfreezeWorkload')
  async unfreeze(input: Input<'unfreezeWorkload'>): Promise<Accepted> {
    return await this.writes.perform(input, this.holds.unfreezeWorkload(input));
  }

  @Serves('freezeNamespace')
  async freezeNamespace(input: Input<'freezeNamespace'>): Promise<Accepted> {
    return await this.writes.perform(input, this.holds.freezeNamespace(input));
  }

  @Serves('unfreezeNamespace')
  async unfreezeNamespace(input: Input<'unfreezeNamespace'>): Promise<Accepted> {
    return await this.writes.perform(input, this.holds.unfreezeNamespace(input));
  }

  @Serves('freezeAll')
  async freezeAll(input: Input<'freezeAll'>): Promise<Accepted> {
    return await this.writes.perform(input, this.holds.freezeAll(input));
  }

  @Serves('unfreezeAll')
  async unfreezeAll(input: Input<'unfreezeAll'>): Promise<Accepted> {
    return await this.writes.perform(input, this.holds.unfreezeAll(input));
  }

  @Serves('resumeChange')
  async resume(input: Input<'resumeChange'>): Promise<Accepted> {
    return await this.writes.perform(input, this.holds.resumeChange(input));
  }

  @Serves('approveWorkload')
  async approve(input: Input<'approveWorkload'>): Promise<Accepted> {
    return await this.writes.perform(input, this.holds.approveWorkload(input));
  }
}
