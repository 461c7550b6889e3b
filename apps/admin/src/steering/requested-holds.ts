import { Injectable } from '@nestjs/common';
import type { ReloadHold } from '@reroll/core/holds/hold';
import { passedHolds } from '@reroll/core/holds/passed';
import { holdOf } from '@reroll/core/holds/reload-hold';
import { keyOf } from '@reroll/core/model';
import { Catalog } from '@reroll/redis/catalog/catalog';
import type { Input } from '../http/operation-types.ts';
import { NamespaceHoldsReader } from '../objects/namespace-holds.ts';
import { ObjectFacts } from '../objects/object-facts.ts';

type Asked = Pick<Input<'reloadWorkload'>, 'params' | 'body' | 'caller'>;

const NO_HOLDS = { namespace: {}, installation: {} };

/** Tells what holds a manual reload at once, so that whoever asks for one learns it from the answer. */
@Injectable()
export class RequestedHolds {
  constructor(
    private readonly catalog: Catalog,
    private readonly facts: ObjectFacts,
    private readonly namespaces: NamespaceHoldsReader,
  ) {}

  /** Not of waves and the limit of rollouts at once. Undefined: nothing, or it cannot be read. The reload is accepted all the same. */
  async of(input: Asked): Promise<ReloadHold | undefined> {
    try {
      return await this.#of(input);
    } catch {
      return undefined;
    }
  }

  async #of({ params, body: { now, overrideFreeze }, caller }: Asked): Promise<ReloadHold | undefined> {
    const key = keyOf(params);
    const row = (await this.catalog.workloads([key])).get(key);
    const settings = await this.facts.settings();
    if (!row || !settings) return undefined;
    const overrideFreezeOfAll = overrideFreeze === true && (await caller.mayOverrideFreeze(undefined));
    return holdOf({
      ...NO_HOLDS,
      ...(await this.namespaces.of(params.namespace)),
      workload: row.annotations,
      defaults: settings.holds ?? {},
      record: row.record,
      // Nobody has approved it yet.
      id: undefined,
      passes: passedHolds({ now, overrideFreeze, overrideFreezeOfAll }),
      now: Date.now(),
    });
  }
}
