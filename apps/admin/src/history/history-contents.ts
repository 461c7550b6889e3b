import type { HistoryStream } from '@reroll/redis/history/history';
import { NO_POSITIONS, type FollowedEntry, type Positions } from '@reroll/redis/history/history-reader';
import type { AuditEntry } from '@reroll/core/history/entries';
import { HistoryJoin } from '@reroll/core/history/join';
import { compareIds, takeDropped, type Dropped, type StreamId } from '@reroll/core/history/stream-id';

export interface AuditRow {
  readonly id: StreamId;
  readonly entry: AuditEntry;
}

export class HistoryContents {
  readonly join = new HistoryJoin();
  /** Oldest first. */
  readonly audit: AuditRow[] = [];
  positions: Positions = NO_POSITIONS;
  /** All entries from here on exist; some of the earlier ones may be gone. */
  readonly horizon: Record<HistoryStream, StreamId> = { ...NO_POSITIONS };

  add(added: FollowedEntry): void {
    const { id } = added;
    if (added.stream === 'changes') this.join.addChange(id, added.entry);
    else if (added.stream === 'outcomes') this.join.addOutcome(id, added.entry);
    else if (added.stream === 'rollouts') this.join.addRollout(id, added.entry);
    else this.audit.push({ id, entry: added.entry });
  }

  /** Drops the entries before an id; with `one`, only that one. */
  drop(stream: HistoryStream, before: StreamId, one?: Dropped): void {
    if (compareIds(this.horizon[stream], before) < 0) this.horizon[stream] = before;
    if (stream === 'changes') this.join.dropChanges(before, one);
    else if (stream === 'outcomes') this.join.dropOutcomes(before, one);
    else if (stream === 'rollouts') this.join.dropRollouts(before, one);
    else takeDropped(this.audit, before, one);
  }

  /** Oldest first. */
  rows(stream: HistoryStream): readonly { readonly id: StreamId }[] {
    return stream === 'audit' ? this.audit : this.join[stream];
  }
}
