import { sourceNameOf } from '../state/rows.ts';
import type { SourceKey } from '../model.ts';
import type { ChangeEntry, JudgedWorkload, OutcomeEntry } from './entries.ts';

export interface HistoryLimits {
  /** For each stream. */
  readonly maxEntries: number;
  /** Milliseconds. */
  readonly maxAge: number;
  /** Bytes of Redis, for all streams together. */
  readonly maxBytes: number;
}

/** Limits of one entry of the history. Bytes are those of the names as JSON. */
export const ENTRY_BOUNDS = {
  /** Workloads in each list of a change, and their bytes with reasons and details. */
  workloads: 50,
  listBytes: 1_920,
  /** Sources in an outcome, and their bytes. */
  sources: 20,
  sourcesBytes: 1_024,
  /** Characters of a detail or an error. */
  text: 200,
} as const;

/** Returns the change with the first names of each list, and counts the others. */
export function boundedChange(entry: ChangeEntry): ChangeEntry {
  const woken = firstJudged(entry.woken);
  const leftAlone = firstJudged(entry.leftAlone);
  const more = {
    woken: (entry.more?.woken ?? 0) + entry.woken.length - woken.length,
    leftAlone: (entry.more?.leftAlone ?? 0) + entry.leftAlone.length - leftAlone.length,
  };
  const isCut = more.woken + more.leftAlone > 0;
  return { ...entry, woken, leftAlone, more: isCut ? more : undefined };
}

/** Returns the outcome with the first sources: `source`, which enqueued the workload, then those reloaded or stale. */
export function boundedOutcome(entry: OutcomeEntry, source?: SourceKey): OutcomeEntry {
  const first = source === undefined ? undefined : sourceNameOf(source);
  const rolled = firstNames(frontOf(entry.rolled, (name) => name === first));
  const verdicts = Object.entries(entry.sources);
  const kept = new Set(
    firstNames(
      frontOf(
        frontOf(verdicts, ([, verdict]) => verdict === 'Roll' || verdict === 'AdoptStale'),
        ([name]) => name === first,
      ).map(([name]) => name),
    ),
  );
  const omitted = Math.max(verdicts.length - kept.size, entry.rolled.length - rolled.length);
  return {
    ...entry,
    sources: Object.fromEntries(verdicts.filter(([name]) => kept.has(name))),
    rolled,
    error: cut(entry.error),
    detail: cut(entry.detail),
    omitted: omitted > 0 ? omitted : undefined,
  };
}

/** A detail that several workloads share is stored once and counted once. */
function firstJudged(all: readonly JudgedWorkload[]): JudgedWorkload[] {
  const why = new Set<string>();
  const kept: JudgedWorkload[] = [];
  let bytes = 0;
  for (const { workload, reason, detail } of all) {
    const judged = { workload, reason, detail: cut(detail) };
    const group = `${reason} ${judged.detail}`;
    bytes += bytesOf(workload) + (why.has(group) ? 0 : bytesOf(group));
    if (kept.length >= ENTRY_BOUNDS.workloads || bytes > ENTRY_BOUNDS.listBytes) break;
    why.add(group);
    kept.push(judged);
  }
  return kept;
}

function firstNames(names: readonly string[]): string[] {
  let bytes = 0;
  const end = names.findIndex((name, index) => {
    bytes += bytesOf(name);
    return index >= ENTRY_BOUNDS.sources || bytes > ENTRY_BOUNDS.sourcesBytes;
  });
  return end === -1 ? [...names] : names.slice(0, end);
}

/** Moves the wanted items to the front; each part keeps its order. */
function frontOf<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): Item[] {
  return [...items.filter(isFirst), ...items.filter((item) => !isFirst(item))];
}

function cut<Text extends string | undefined>(text: Text): Text | string {
  if (text === undefined || text.length <= ENTRY_BOUNDS.text) return text;
  return `${text.slice(0, ENTRY_BOUNDS.text - 1)}…`;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) + 1;
}
