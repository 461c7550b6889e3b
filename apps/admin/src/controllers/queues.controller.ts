import { Controller } from '@nestjs/common';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Serves } from '../http/serves.ts';
import { JobBoard } from '../jobs/job-board.ts';
import { mustSteer } from '../steering/must.ts';
import { Writes } from '../steering/writes.ts';

@Controller()
export class QueuesController {
  constructor(
    private readonly board: JobBoard,
    private readonly writes: Writes,
  ) {}

  @Serves('listQueues')
  async list({ caller }: Input<'listQueues'>): Promise<AnswerOf<'listQueues'>> {
    return { items: await this.board.queues(caller) };
  }

  @Serves('pauseQueue')
  async pause(input: Input<'pauseQueue'>): Promise<AnswerOf<'pauseQueue'>> {
    return await this.#steer(input, 'pause');
  }

  @Serves('resumeQueue')
  async resume(input: Input<'resumeQueue'>): Promise<AnswerOf<'resumeQueue'>> {
    return await this.#steer(input, 'resume');
  }

  async #steer(
    input: Input<'pauseQueue'> | Input<'resumeQueue'>,
    verb: 'pause' | 'resume',
  ): Promise<AnswerOf<'pauseQueue'>> {
    const { name } = input.params;
    return await this.writes.perform(input, {
      action: `${verb}Queue`,
      target: name,
      allow: () => mustSteer(input.caller),
      run: async () => {
        await this.board[verb](name);
        return await this.board.queue(name, input.caller);
      },
      answer: (queue) => queue,
    });
  }
}
