import { Controller } from '@nestjs/common';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Serves } from '../http/serves.ts';
import { ReloadWrites } from '../steering/reload-writes.service.ts';
import { Writes } from '../steering/writes.ts';

@Controller()
export class ReloadsController {
  constructor(
    private readonly reloads: ReloadWrites,
    private readonly writes: Writes,
  ) {}

  @Serves('reloadWorkload')
  async reload(input: Input<'reloadWorkload'>): Promise<AnswerOf<'reloadWorkload'>> {
    return await this.writes.perform(input, this.reloads.reload(input));
  }
}
