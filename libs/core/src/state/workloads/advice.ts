import type { WorkloadKind } from '../../model.ts';
import { isSameExcess } from '../../annotations/annotation-limits.ts';
import { adoptionProblems } from '../../adopted/adopted.ts';
import { limitProblem } from '../../holds/reload-limit.ts';
import type { AnnotationKeys } from '../../annotations/annotation-keys.ts';
import { patternErrors, type PatternError } from '../../patterns/patterns.ts';
import { pauseWish } from '../../reload/pause.ts';
import { isInConflict } from './conflict.ts';
import { sameLists, sameRecords, type ObservedWorkload, type SourceName, type WorkloadRow } from '../rows.ts';

type Annotated = Pick<ObservedWorkload, 'annotations' | 'podAnnotations'>;

/** Returns the unusable patterns in a workload's reload annotations, each once. */
export function unusablePatterns(workload: Annotated, keys: AnnotationKeys): readonly PatternError[] {
  const found = new Map<string, PatternError>();
  for (const key of [keys.configMapReload, keys.secretReload, keys.secretProviderClassReload]) {
    for (const list of [workload.annotations[key], workload.podAnnotations[key]]) {
      if (list === undefined) continue;
      for (const error of patternErrors(list)) found.set(error.pattern, error);
    }
  }
  return [...found.values()];
}

/**
 * Whether a workload asks for something that it cannot get, so that a worker tells its owner why although nothing is pending. It
 * exceeds a limit; has an unusable pattern, pause period or reload limit; names a Secret that does not exist or whose type is not watched; is in
 * conflict; or has the pod template of an object that is not followed.
 */
export function needsAdvice(
  row: Annotated &
    Pick<WorkloadRow, 'dependencies' | 'conflict' | 'leftAlone' | 'excess'> & { readonly kind: WorkloadKind },
  by: { keys: AnnotationKeys; isSeen: (source: SourceName) => boolean },
): boolean {
  const unseen = row.dependencies.some((source) => source.startsWith('Secret/') && !by.isSeen(source));
  if (row.excess || unfollowedReason(row)) return true;
  if (unseen || isInConflict(row.conflict) || unusablePatterns(row, by.keys).length > 0) return true;
  if (pauseWish(row, by.keys).state === 'unusable' || limitProblem(row.annotations) !== undefined)
    return true;
  return adoptionProblems(row.annotations).length > 0;
}

/** Returns why the pod template that it uses is not followed, if its annotations ask for reloads all the same. */
export function unfollowedReason({
  leftAlone,
  annotations,
}: Pick<WorkloadRow, 'leftAlone' | 'annotations'>): 'WorkloadRefUnsupported' | 'TooManyRollouts' | undefined {
  if (leftAlone !== 'WorkloadRefUnsupported' && leftAlone !== 'TooManyRollouts') return undefined;
  return Object.keys(annotations).length > 0 ? leftAlone : undefined;
}

/** Whether two rows ask for the same, so that the owner has been told already. */
export function asksTheSame(a: WorkloadRow, b: WorkloadRow): boolean {
  return (
    isInConflict(a.conflict) === isInConflict(b.conflict) &&
    a.leftAlone === b.leftAlone &&
    isSameExcess(a.excess, b.excess) &&
    sameLists(a.dependencies, b.dependencies) &&
    sameRecords(a.annotations, b.annotations) &&
    sameRecords(a.podAnnotations, b.podAnnotations)
  );
}
