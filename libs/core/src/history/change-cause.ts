import type { ChangeCause } from './entries.ts';
import type { FoundBy } from '../state/outbox.ts';
import type { RecordHash } from '../record/record-hash.ts';

/** The first change of a source since the last one that was reported. */
export interface Before {
  readonly foundBy: FoundBy;
  /** The last hash reported; null: the source did not exist. */
  readonly hash: RecordHash | null;
}

/** Returns how a source changed. `before` is undefined if nothing changed since the last report. */
export function changeCause(
  before: Before | undefined,
  hash: RecordHash | null,
): { cause: ChangeCause; from: RecordHash | null } {
  if (!before || before.hash === hash) return { cause: 'repeated', from: hash };
  const from = before.hash;
  if (before.foundBy === 'list') return { cause: 'missed', from };
  if (hash === null) return { cause: 'deleted', from };
  return { cause: from === null ? 'created' : 'updated', from };
}
