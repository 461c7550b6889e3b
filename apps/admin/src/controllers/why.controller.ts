import { Controller } from '@nestjs/common';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Serves } from '../http/serves.ts';
import { LongAnswers } from '../why/long-answers.ts';
import { Why } from '../why/why.ts';

/** Explains why a workload is reloaded or not, and previews changes. */
@Controller()
export class WhyController {
  constructor(
    private readonly why: Why,
    private readonly long: LongAnswers,
  ) {}

  @Serves('explain')
  async explain({ query, caller }: Input<'explain'>): Promise<AnswerOf<'explain'>> {
    return await this.why.explain(query, caller);
  }

  @Serves('preview')
  async preview(input: Input<'preview'>): Promise<AnswerOf<'preview'>> {
    const { body, caller } = input;
    return await this.long.make(input, (signal) => this.why.preview(body, caller, signal));
  }
}
