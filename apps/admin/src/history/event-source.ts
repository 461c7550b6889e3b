import { HISTORY_STREAMS, STREAM_START, type HistoryStream } from '@reroll/redis/history/history';
import type { Positions } from '@reroll/redis/history/history-reader';
import type { Change, Outcome, Rollout } from '@reroll/core/history/join';
import { compareIds, indexOfId, millisecondsOf, type StreamId } from '@reroll/core/history/stream-id';
import type { AuditRow, HistoryContents } from './history-contents.ts';

/** An entry, in the order in which the entries of all streams are sent, and the positions after it. */
export type Happened = { readonly positions: Positions } & (
  | { readonly name: 'change'; readonly row: Change }
  | { readonly name: 'outcome'; readonly row: Outcome }
  | { readonly name: 'rollout'; readonly row: Rollout }
  | { readonly name: 'audit'; readonly row: AuditRow }
);

const NAMES = { changes: 'change', outcomes: 'outcome', rollouts: 'rollout', audit: 'audit' } as const;
/** An id that is this much later (ms) than the last one comes from a Redis that no longer exists. */
const MOST_AHEAD = 60_000;
const ID = /^\d{1,15}-\d{1,10}$/u;

/** At most `count` entries after the positions, by time. */
export function happenedAfter(contents: HistoryContents, from: Positions, count: number): Happened[] {
  const heads = HISTORY_STREAMS.map((stream) => {
    const rows = contents.rows(stream);
    const first = indexOfId(rows, from[stream]);
    return { stream, rows, at: rows[first]?.id === from[stream] ? first + 1 : first };
  });
  const found: Happened[] = [];
  let positions = from;
  while (found.length < count) {
    const [next] = heads.filter(({ rows, at }) => at < rows.length).sort((a, b) => byTime(idOf(a), idOf(b)));
    const row = next?.rows[next.at];
    if (!next || !row) break;
    next.at += 1;
    positions = { ...positions, [next.stream]: row.id };
    found.push({ name: NAMES[next.stream], row, positions } as Happened);
  }
  return found;
}

function idOf({ rows, at }: { rows: readonly { id: StreamId }[]; at: number }): StreamId {
  return rows[at]?.id ?? STREAM_START;
}

function byTime(a: StreamId, b: StreamId): number {
  return millisecondsOf(a) - millisecondsOf(b);
}

/** The longest result of `writePositions`: ids of 15 and 10 digits, and commas. */
const LONGEST = HISTORY_STREAMS.length * (15 + 1 + 10 + 1) - 1;

/**
 * The `id` of a server-sent event, to be sealed. Its length is constant, because it could reveal entries that the reader
 * may not see.
 */
export function writePositions(positions: Positions): string {
  return HISTORY_STREAMS.map((stream) => positions[stream])
    .join(',')
    .padEnd(LONGEST);
}

/** Undefined if the id is not ours. */
export function readPositions(text: string): Positions | undefined {
  const ids = text.trimEnd().split(',');
  if (ids.length !== HISTORY_STREAMS.length || !ids.every((id) => ID.test(id))) return undefined;
  const entries = HISTORY_STREAMS.map((stream, index) => [stream, ids[index] ?? STREAM_START] as const);
  return Object.fromEntries(entries) as unknown as Positions;
}

/** Whether everything after the positions still exists. */
export function canResume(contents: HistoryContents, from: Positions): boolean {
  return HISTORY_STREAMS.every((stream) => isKept(contents, stream, from[stream]));
}

function isKept(contents: HistoryContents, stream: HistoryStream, id: StreamId): boolean {
  const horizon = contents.horizon[stream];
  // The next entries may be gone, unless this is the first existing entry or a later one.
  if (horizon !== STREAM_START && compareIds(id, horizon) < 0) return false;
  return millisecondsOf(id) - millisecondsOf(contents.positions[stream]) <= MOST_AHEAD;
}
