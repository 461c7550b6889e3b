import { Controller } from '@nestjs/common';
import { heldAnswer } from '@reroll/shared/api/explained';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Serves } from '../http/serves.ts';
import { ReloadWrites } from '../steering/reload-writes.service.ts';
import { RequestedHolds } from '../steering/requested-holds.ts';
import { Writes } from '../steering/writes.ts';

@Controller()
export class ReloadsController {
  constructor(
    private readonly reloads: ReloadWrites,
    private readonly holds: RequestedHolds,
    private readonly writes: Writes,
  ) {}

  @Serves('reloadWorkload')
  async reload(input: Input<'reloadWorkload'>): Promise<AnswerOf<'reloadWorkload'>> {
    const accepted = await this.writes.perform(input, this.reloads.reload(input));
    // After the write, which says whether the caller may know.
    const hold = await this.holds.of(input);
    return hold ? { ...accepted, held: heldAnswer(hold) } : accepted;
  }
}
