import { Controller, Inject } from '@nestjs/common';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Serves } from '../http/serves.ts';
import { Why } from '../why/why.ts';
import { ADMIN_OPTIONS } from '../tokens.ts';

/** Explains why a workload is reloaded or not, and previews changes. */
@Controller()
export class WhyController {
  constructor(
    private readonly why: Why,
    @Inject(ADMIN_OPTIONS) private readonly options: AdminOptions,
  ) {}

  @Serves('explain')
  async explain({ query, caller }: Input<'explain'>): Promise<AnswerOf<'explain'>> {
    return await this.why.explain(query, caller);
  }

  @Serves('preview')
  async preview({ body, caller, gone }: Input<'preview'>): Promise<AnswerOf<'preview'>> {
    const late = AbortSignal.timeout(this.options.apiRequestTimeout);
    return await this.why.preview(body, caller, AbortSignal.any([gone, late]));
  }
}
