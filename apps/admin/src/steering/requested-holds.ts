import type { ReloadHold } from '@reroll/core/holds/hold';
import { passedHolds } from '@reroll/core/holds/passed';
import { holdOf } from '@reroll/core/holds/reload-hold';
import { keyOf } from '@reroll/core/model';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { Input } from '../http/operation-types.ts';
import type { NamespaceHoldsReader } from '../objects/namespace-holds.ts';
import type { ObjectFacts } from '../objects/object-facts.ts';

type Asked = Pick<Input<'reloadWorkload'>, 'params' | 'body' | 'caller'>;

const NO_HOLDS = { namespace: {}, installation: {} };

interface RequestedHoldsContext {
  readonly catalog: Pick<Catalog, 'workloads'>;
  readonly facts: Pick<ObjectFacts, 'settings'>;
  readonly namespaces: Pick<NamespaceHoldsReader, 'of'>;
  readonly log: Logger;
}

/** Tells what holds a manual reload at once, so that whoever asks for one learns it from the answer. */
export class RequestedHolds {
  readonly #context: RequestedHoldsContext;

  constructor(context: RequestedHoldsContext) {
    this.#context = context;
  }

  /** Not of waves and the limit of rollouts at once. Undefined: nothing, or it cannot be read, which is logged. The reload is accepted all the same. */
  async of(input: Asked): Promise<ReloadHold | undefined> {
    try {
      return await this.#of(input);
    } catch (error) {
      this.#context.log.failure('cannot read what holds a manual reload', error, {
        workload: keyOf(input.params),
      });
      return undefined;
    }
  }

  async #of({ params, body: { now, overrideFreeze }, caller }: Asked): Promise<ReloadHold | undefined> {
    const { catalog, facts, namespaces } = this.#context;
    const key = keyOf(params);
    const row = (await catalog.workloads([key])).get(key);
    const settings = await facts.settings();
    if (!row || !settings) return undefined;
    const overrideFreezeOfAll = overrideFreeze === true && (await caller.mayOverrideFreeze(undefined));
    return holdOf({
      ...NO_HOLDS,
      ...(await namespaces.of(params.namespace)),
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
