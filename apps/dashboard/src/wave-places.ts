import type { Waves } from '@reroll/shared/api/waves';
import { keyOf } from './names.ts';

/** In which wave a workload is. */
export interface WavePlace {
  /** From 1. */
  readonly number: number;
  readonly of: number;
  readonly state: NonNullable<Waves['plan']>[number]['state'];
}

/** In which wave each workload is, by key. Nothing if the source has other data by now: the waves are those of that. */
export function wavePlaces(
  waves: Waves | null | undefined,
  to: string | null,
): ReadonlyMap<string, WavePlace> {
  const plan = waves && waves.hash === to ? (waves.plan ?? []) : [];
  return new Map(
    plan.flatMap(({ workloads, state }, index) =>
      workloads.map(
        ({ workload }) => [keyOf(workload), { number: index + 1, of: plan.length, state }] as const,
      ),
    ),
  );
}
