import { Controller } from '@nestjs/common';
import { partsOf, type Key, type WorkloadKey } from '@reroll/core/model';
import { BulkTargets, type Matched } from '../bulk/bulk-targets.ts';
import { BulkWrites } from '../bulk/bulk-writes.service.ts';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Serves } from '../http/serves.ts';
import { JobRetries } from '../jobs/job-retries.ts';
import { endOf, HoldWrites } from '../steering/hold-writes.service.ts';
import { ReloadWrites } from '../steering/reload-writes.service.ts';

/** Writes to all objects that a selector matches (docs/adr/0046). */
@Controller()
export class BulkController {
  constructor(
    private readonly targets: BulkTargets,
    private readonly bulks: BulkWrites,
    private readonly reloads: ReloadWrites,
    private readonly holds: HoldWrites,
    private readonly retries: JobRetries,
  ) {}

  @Serves('bulkReload')
  async reload(input: Input<'bulkReload'>): Promise<AnswerOf<'bulkReload'>> {
    return await this.bulks.perform(input, {
      action: 'bulkReload',
      find: () => this.#workloads(input),
      write: (one) => this.reloads.reload({ ...input, params: paramsOf(one) }),
    });
  }

  @Serves('bulkFreeze')
  async freeze(input: Input<'bulkFreeze'>): Promise<AnswerOf<'bulkFreeze'>> {
    endOf(input.body.until);
    return await this.bulks.perform(input, {
      action: 'bulkFreeze',
      find: () => this.#workloads(input),
      write: (one) => this.holds.freezeWorkload({ ...input, params: paramsOf(one) }),
    });
  }

  @Serves('bulkUnfreeze')
  async unfreeze(input: Input<'bulkUnfreeze'>): Promise<AnswerOf<'bulkUnfreeze'>> {
    return await this.bulks.perform(input, {
      action: 'bulkUnfreeze',
      find: () => this.#workloads(input),
      write: (one) => this.holds.unfreezeWorkload({ ...input, params: paramsOf(one) }),
    });
  }

  @Serves('bulkApprove')
  async approve(input: Input<'bulkApprove'>): Promise<AnswerOf<'bulkApprove'>> {
    const { selector, limit, reason } = input.body;
    return await this.bulks.perform(input, {
      action: 'bulkApprove',
      find: () => this.targets.awaitingApproval(selector, limit, input.caller),
      write: (one) =>
        this.holds.approveWorkload({ ...input, params: paramsOf(one), body: { reason, id: one.id ?? '' } }),
    });
  }

  @Serves('bulkRetry')
  async retry(input: Input<'bulkRetry'>): Promise<AnswerOf<'bulkRetry'>> {
    const { caller, body } = input;
    return await this.bulks.perform(input, {
      action: 'bulkRetry',
      find: () => this.targets.failedJobs(body.selector, body.limit, caller),
      write: ({ id, target }) =>
        this.retries.write(id ?? '', {
          caller,
          body,
          ...(body.dryRun ? {} : { subject: target as Key<string> }),
        }),
    });
  }

  #workloads({ body, caller }: Pick<Input<'bulkUnfreeze'>, 'body' | 'caller'>): Promise<readonly Matched[]> {
    return this.targets.workloads(body.selector, body.limit, caller);
  }
}

function paramsOf({ target }: Matched): Input<'reloadWorkload'>['params'] {
  return partsOf(target as WorkloadKey);
}
