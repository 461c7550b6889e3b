import type { Option } from '../options.ts';
import type { Step } from '../plan.ts';
import type { Random } from '../random.ts';
import { NAMESPACES, SOURCES, type SourceRef } from '../world/shapes.ts';

/** Somebody runs `kubectl reroll wait --converged`, for so many virtual milliseconds at most. */
export interface WaitDeed {
  readonly do: 'wait';
  readonly source: SourceRef;
  readonly for: number;
}

export const WAITED = SOURCES.filter((source) => !source.startsWith('SecretProviderClass/'));

/** At any time, and after many of the writes: soon, as is recommended, or later. Without pods there is nothing to wait for. */
export function waitSteps(
  random: Random,
  { options, steps, length }: { options: readonly Option[]; steps: readonly Step[]; length: number },
): Step[] {
  // An etcd that is set back takes pods with it, and brings others back.
  if (!options.includes('pods') || steps.some((step) => step.do === 'restoreEtcd')) return [];
  const wait = (step: Pick<Step, 'at' | 'namespace'>, source: SourceRef): Step[] =>
    WAITED.includes(source)
      ? [{ ...step, do: 'wait', source, for: random.pick([3_000, 20_000, 20_000, 60_000] as const) }]
      : [];
  const after = steps.flatMap((step) => {
    if (step.do !== 'writeSource' || !random.chance(0.8)) return [];
    const at = step.at + random.pick([1, 300, 2_000, 8_000] as const);
    return wait({ at, namespace: step.namespace }, step.source);
  });
  const others = Array.from({ length: 10 }, () => {
    const at = Math.floor(random.next() * length);
    return wait({ at, namespace: random.pick(NAMESPACES) }, random.pick(SOURCES));
  });
  return [...after, ...others.flat()];
}
