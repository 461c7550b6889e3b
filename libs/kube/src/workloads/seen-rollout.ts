import { keyOf } from '@reroll/core/model';
import { kubeletText } from '@reroll/core/rollouts/kubelet-text';
import type { SeenRollout } from '@reroll/core/rollouts/rollout-tracker';
import type { RolloutCondition } from '@reroll/core/rollouts/rollout';
import type { KubeObject } from '../objects.ts';
import type { WorkloadKindDefinition } from './definition.ts';
import { podSelector } from './pod-selector.ts';

interface WithConditions extends KubeObject {
  readonly status?: { readonly conditions?: unknown };
}

export interface ShownRollout extends SeenRollout {
  /** Selects its pods. Only for a stuck rollout, and only if the pods are read. */
  readonly podSelector?: string | undefined;
  /** See `WorkloadKindDefinition.templateGeneration`. */
  readonly templateGeneration?: number | undefined;
}

/** The most conditions kept; no kind has more. */
const MOST = 12;
/** A reason or type in the sense of the API: one word, no free text. */
const WORD = /^[A-Za-z0-9][A-Za-z0-9_.,:/-]{0,99}$/u;

/**
 * Returns an object's rollout. `withDetails` (`--rollout-details`) adds the messages of its conditions and, if it is stuck, the
 * selector of its pods.
 */
export function seenRollout(
  definition: WorkloadKindDefinition,
  object: KubeObject,
  withDetails: boolean,
): ShownRollout {
  const { namespace, name, generation = 0 } = object.metadata;
  const status = definition.rolloutStatus(object);
  const conditions = status.state === 'complete' ? [] : conditionsOf(object, withDetails);
  const rollout = {
    workload: keyOf({ kind: definition.kind, namespace, name }),
    generation,
    ...status,
    conditions,
    templateGeneration: definition.templateGeneration?.(object),
  };
  return withDetails && status.state === 'stuck' ? { ...rollout, podSelector: podSelector(object) } : rollout;
}

function conditionsOf({ status }: WithConditions, withMessages: boolean): RolloutCondition[] {
  const { conditions } = status ?? {};
  if (!Array.isArray(conditions)) return [];
  return conditions.slice(0, MOST).map((each: Partial<Record<keyof RolloutCondition, unknown>> | null) => {
    const { type, status: state, reason, message } = each ?? {};
    const words = { type: word(type), status: word(state), reason: word(reason) };
    return withMessages && typeof message === 'string' ? { ...words, message: kubeletText(message) } : words;
  });
}

function word(value: unknown): string {
  return typeof value === 'string' && WORD.test(value) ? value : '';
}
