import type { ChangeSummary } from '@reroll/shared/api/changes';
import { STATES, type ReloadState } from '../../words.ts';

/** Counts of workloads, by what became of them at changes of one part of the time. */
export interface Bucket {
  readonly from: Date;
  good: number;
  busy: number;
  quiet: number;
  bad: number;
}

const BUCKETS = 60;

/** Sixty parts of a time, oldest first. A change before them is left out. */
export function bucketsOf(changes: readonly ChangeSummary[], from: Date, to: Date): Bucket[] {
  const size = (to.getTime() - from.getTime()) / BUCKETS;
  const buckets = Array.from({ length: BUCKETS }, (_, index) => ({
    from: new Date(from.getTime() + index * size),
    good: 0,
    busy: 0,
    quiet: 0,
    bad: 0,
  }));
  for (const { seenAt, states } of changes) {
    // A clock that is ahead of the reader's: it happened now.
    const index = Math.min(BUCKETS - 1, Math.floor((new Date(seenAt).getTime() - from.getTime()) / size));
    const bucket = buckets[index];
    if (!bucket) continue;
    for (const [state, count] of Object.entries(states)) {
      const { tone } = STATES[state as ReloadState];
      bucket[tone === 'warn' ? 'busy' : tone] += count;
    }
  }
  return buckets;
}
