import { adoptionProblems } from '@reroll/core/adopted';
import type { AnnotationKeys } from '@reroll/core/annotation-keys';
import type { Readings } from './reload-plan.ts';
import type { WorkloadNow } from './workload-reader.ts';

/** What a system that `--adopt` takes over left on a workload, or on its sources, that would do harm. */
export function leftBehind(
  { observed }: WorkloadNow,
  readings: Readings,
  { adopt = [] }: AnnotationKeys,
): string[] {
  if (!adopt.includes('wave')) return [];
  const owned = [...readings].filter(
    ([, read]) => typeof read !== 'string' && read.owners.includes(observed.uid),
  );
  return [
    ...adoptionProblems(observed.annotations),
    ...owned.map(
      ([name]) =>
        `${name} has an ownerReference to the workload, as Wave wrote it: it goes with the workload; remove it`,
    ),
  ];
}
