import { Controller, Inject } from '@nestjs/common';
import { QUEUE_NAMES } from '@reroll/shared/api/queues';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Serves } from '../http/serves.ts';
import { JobBoard } from '../jobs/job-board.ts';

@Controller()
export class QueuesController {
  @Inject(JobBoard) private readonly board!: JobBoard;

  @Serves('listQueues')
  async list({ caller }: Input<'listQueues'>): Promise<AnswerOf<'listQueues'>> {
    return { items: await Promise.all(QUEUE_NAMES.map((name) => this.board.queue(name, caller))) };
  }
}
