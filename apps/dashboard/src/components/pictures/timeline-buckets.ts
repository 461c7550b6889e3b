import type { ChangeSummary } from '@reroll/shared/api/changes';
import { STATES, type ReloadState } from '../../words.ts';
import { PARTS_SHOWN } from './timeline-span.ts';

/** From the bottom of a bar to its top; each is a tone of the states that it counts. */
export const PARTS = ['good', 'busy', 'warn', 'bad', 'quiet'] as const;
export type Part = (typeof PARTS)[number];

/** Counts of workloads, by what became of them at changes of one part of the time. */
export type Bucket = Record<Part, number> & { readonly from: Date };

/** Sixty parts of a time, oldest first. A change before them is left out. */
export function bucketsOf(changes: readonly ChangeSummary[], from: Date, to: Date): Bucket[] {
  const size = (to.getTime() - from.getTime()) / PARTS_SHOWN;
  const buckets = Array.from({ length: PARTS_SHOWN }, (_, index) => ({
    from: new Date(from.getTime() + index * size),
    good: 0,
    busy: 0,
    warn: 0,
    bad: 0,
    quiet: 0,
  }));
  for (const { seenAt, states } of changes) {
    // A clock that is ahead of the reader's: it happened now.
    const index = Math.min(PARTS_SHOWN - 1, Math.floor((new Date(seenAt).getTime() - from.getTime()) / size));
    const bucket = buckets[index];
    if (!bucket) continue;
    for (const [state, count] of Object.entries(states)) {
      bucket[STATES[state as ReloadState].tone] += count;
    }
  }
  return buckets;
}

/** The top of an axis that goes up to a number: 1, or an even one whose half can stand beside it. */
export function roundTop(most: number): number {
  if (most <= 1) return 1;
  const size = 10 ** Math.floor(Math.log10(most));
  const tops = [1, 1.2, 1.6, 2, 2.4, 3, 4, 6, 8, 10].map((step) => Math.round(step * size));
  return tops.find((top) => top >= most && top % 2 === 0) ?? most;
}
