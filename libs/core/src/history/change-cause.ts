import type { ChangeCause } from './entries.ts';
import type { FoundBy } from '../state/outbox.ts';
import type { RecordHash } from '../record/record-hash.ts';

/** What is known of the first change of a source since the last one that was told. */
export interface Before {
  readonly foundBy: FoundBy;
  /** The hash that was told before; null: the source did not exist. */
  readonly hash: RecordHash | null;
}

/** From what to what a source changed. `before` undefined: nothing changed since it was told. */
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
