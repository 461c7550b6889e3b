import type { ObservedWorkload, WorkloadRow } from '../rows.ts';

/** What is known of another controller that reverts our marker on a workload. */
export interface MarkerConflict {
  /** Hashes of the pod templates from before our reloads: to go back to one of them is to revert the marker. */
  readonly before: readonly string[];
  /** Unix seconds of the last reverts, oldest first. */
  readonly strips: readonly number[];
}

/** So many reverts within so many seconds are a conflict: the workload is not reloaded any more. */
const STRIPS = 3;
const WITHIN_SECONDS = 600;

/** Annotation on a workload: a new value ends the conflict. */
export const RELEASE_ANNOTATION = 'reroll.dev/release';

const NO_CONFLICT: MarkerConflict = { before: [], strips: [] };

type Known = Pick<WorkloadRow, 'template' | 'record' | 'annotations' | 'conflict'>;
type Seen = Pick<ObservedWorkload, 'template' | 'record' | 'annotations' | 'writtenAt'>;

/**
 * The conflict after a write, or after what a list shows, which may be several writes (not `live`).
 * - A template that changed with the record is our reload: what it was before is kept. Shown by a list it may be an
 *   edit as well, and begins anew.
 * - A template that went back to what it was before a reload of ours, the record as it was or gone, is a strip.
 * - Any other change of the template, or of the annotations that decide, is an edit and begins anew. An edit of the
 *   annotations alone leaves our marker where it is, so what the template was before stays known.
 */
export function conflictAfter(known: Known, seen: Seen, live: boolean): MarkerConflict | undefined {
  const edited = isEdited(known, seen);
  if (seen.template === known.template) return edited ? withoutStrips(known.conflict) : known.conflict;
  if (edited || seen.writtenAt === undefined) return undefined;
  const { before, strips } = known.conflict ?? NO_CONFLICT;
  if (seen.record !== undefined && seen.record !== known.record) {
    if (!live) return undefined;
    // The first of all stays known: whoever goes back to it takes several markers away.
    return { before: [...new Set([...before.slice(0, 1), known.template])], strips };
  }
  if (!before.includes(seen.template)) return undefined;
  return { before, strips: [...strips, seen.writtenAt].slice(-STRIPS) };
}

/** Whether the marker was reverted `STRIPS` times within `WITHIN_SECONDS`: another reload would be reverted too. */
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
