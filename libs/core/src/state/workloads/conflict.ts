import type { ObservedWorkload, WorkloadRow } from '../rows.ts';
import { areComparable, isSameTemplate } from './template-form.ts';

/** What is known of another controller that reverts our marker on a workload. */
export interface MarkerConflict {
  /** Hashes of the pod templates before our reloads. A template that returns to one of them reverts the marker. */
  readonly before: readonly string[];
  /** Unix seconds of the last reverts, oldest first. */
  readonly strips: readonly number[];
}

/** This many reverts within this many seconds are a conflict: the workload is no longer reloaded. */
const STRIPS = 3;
const WITHIN_SECONDS = 600;

/** Annotation on a workload; a new value ends the conflict. */
export const RELEASE_ANNOTATION = 'reroll.dev/release';

const NO_CONFLICT: MarkerConflict = { before: [], strips: [] };

type Known = Pick<WorkloadRow, 'template' | 'record' | 'annotations' | 'conflict'>;
type Seen = Pick<ObservedWorkload, 'template' | 'record' | 'annotations' | 'writtenAt'>;

/**
 * Returns the conflict after a live write, or after a list, which may hide several writes (`live` is false).
 * - If the template changed together with the record, we reloaded: the template before is kept. In a list it may also be an edit,
 *   which resets the conflict.
 * - If the template returned to one from before our reloads, and the record is unchanged or gone, the marker was reverted.
 * - Any other change of the template or of the deciding annotations is an edit and resets the conflict. An edit of the annotations
 *   alone leaves our marker in place, so the earlier templates are kept.
 */
export function conflictAfter(known: Known, seen: Seen, live: boolean): MarkerConflict | undefined {
  const edited = isEdited(known, seen);
  if (!isChanged(known.template, seen.template))
    return edited ? withoutStrips(known.conflict) : known.conflict;
  if (edited || seen.writtenAt === undefined) return undefined;
  const { before, strips } = known.conflict ?? NO_CONFLICT;
  if (seen.record !== undefined && seen.record !== known.record) {
    if (!live) return undefined;
    // The first is always kept: a return to it removes several markers at once.
    return { before: [...new Set([...before.slice(0, 1), known.template])], strips };
  }
  if (!before.some((each) => isSameTemplate(each, seen.template))) return undefined;
  return { before, strips: [...strips, seen.writtenAt].slice(-STRIPS) };
}

/** A template in the form of another version of the API server tells nothing. */
function isChanged(before: string, after: string): boolean {
  return areComparable(before, after) && !isSameTemplate(before, after);
}

/** Whether the marker was reverted `STRIPS` times within `WITHIN_SECONDS`, so that another reload would be reverted too. */
export function isInConflict(conflict: MarkerConflict | undefined): boolean {
  const { strips = [] } = conflict ?? {};
  const [first = 0] = strips;
  return strips.length >= STRIPS && (strips.at(-1) ?? 0) - first <= WITHIN_SECONDS;
}

function withoutStrips(conflict: MarkerConflict | undefined): MarkerConflict | undefined {
  return conflict && conflict.strips.length > 0 ? { ...conflict, strips: [] } : conflict;
}

function isEdited(known: Known, seen: Seen): boolean {
  const [before, after] = [known.annotations, seen.annotations];
  const keys = Object.keys(before);
  return keys.length !== Object.keys(after).length || keys.some((key) => before[key] !== after[key]);
}
