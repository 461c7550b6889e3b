import type { HistoryStream } from '@reroll/redis/history/history';
import { NO_POSITIONS, type FollowedEntry, type Positions } from '@reroll/redis/history/history-reader';
import type { AuditEntry } from '@reroll/core/history/entries';
import { HistoryJoin } from '@reroll/core/history/join';
import { indexOfId, type StreamId } from '@reroll/core/history/stream-id';

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
    else this.#addAudit(added);
  }

  #addAudit({ id, entry, dropped }: Extract<FollowedEntry, { stream: 'audit' }>): void {
    this.audit.push({ id, entry });
    if (dropped === undefined) return;
    const at = indexOfId(this.audit, dropped);
    if (this.audit[at]?.id === dropped) this.audit.splice(at, 1);
  }

  drop(stream: HistoryStream, before: StreamId): void {
    this.horizon[stream] = before;
    if (stream === 'changes') this.join.dropChanges(before);
    else if (stream === 'outcomes') this.join.dropOutcomes(before);
    else if (stream === 'rollouts') this.join.dropRollouts(before);
    else this.audit.splice(0, indexOfId(this.audit, before));
  }

  /** Oldest first. */
  rows(stream: HistoryStream): readonly { readonly id: StreamId }[] {
    return stream === 'audit' ? this.audit : this.join[stream];
  }
}
