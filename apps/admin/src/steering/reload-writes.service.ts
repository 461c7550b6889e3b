import { Injectable } from '@nestjs/common';
import { passedHolds } from '@reroll/core/holds/passed';
import { keyOf, type WorkloadKey } from '@reroll/core/model';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { ReloadRequests, type RequestedBy } from '@reroll/redis/catalog/requests';
import { History } from '@reroll/redis/history/history';
import { Queues } from '@reroll/redis/queue/queues';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { ProblemError } from '../http/problem-error.ts';
import { mustChange, mustOverrideFreeze } from './must.ts';
import type { Write } from './writes.ts';

type Accepted = Omit<AnswerOf<'reloadWorkload'>, 'held'>;

/** Manual reloads: docs/adr/0020. */
@Injectable()
export class ReloadWrites {
  constructor(
    private readonly catalog: Catalog,
    private readonly history: History,
    private readonly queues: Queues,
    private readonly requests: ReloadRequests,
  ) {}

  reload({
    params,
    caller,
    body,
  }: Pick<Input<'reloadWorkload'>, 'params' | 'caller' | 'body'>): Write<Accepted, Accepted> {
    const { reason, now = false, overrideFreeze = false } = body;
    const workload = keyOf(params);
    const passed = [...(overrideFreeze ? ['freezes'] : []), ...(now ? ['windows, limits and waves'] : [])];
    return {
      action: 'reloadWorkload',
      target: workload,
      ...(passed.length === 0 ? {} : { reason: `bypassing ${passed.join(', ')}: ${reason}` }),
      allow: async () => {
        await mustChange(caller, workload);
        if (overrideFreeze) await mustOverrideFreeze(caller, params.namespace);
        const row = (await this.catalog.workloads([workload])).get(workload);
        if (!row) throw new ProblemError('NotFound');
        const { templateOwner } = row;
        if (templateOwner?.isMarked) await mustChange(caller, templateOwner.key);
      },
      run: async () => {
        // A freeze of the installation may begin later: its right is asked for whether or not there is one.
        const overrideFreezeOfAll = overrideFreeze && (await caller.mayOverrideFreeze(undefined));
        const passes = passedHolds({ now, overrideFreeze, overrideFreezeOfAll });
        return await this.#request(workload, { actor: caller.name, reason, passes });
      },
      answer: (change) => change,
    };
  }

  /** Writes the request first: the resync makes up for whatever is lost after it. */
  async #request(workload: WorkloadKey, by: RequestedBy): Promise<Accepted> {
    const request = await this.requests.put(workload, by);
    const { id, actor, reason, at } = request;
    const change = await this.history.addManual({
      source: null,
      cause: 'manual',
      since: at,
      at,
      from: null,
      hash: null,
      woken: [{ workload, reason: 'Requested', detail: '' }],
      leftAlone: [],
      request: { id, actor, reason },
    });
    await this.queues.enqueueReloadNow(workload, at);
    return { id: change, at: new Date(at).toISOString() };
  }
}
