import { isHoldReason } from '../holds/hold.ts';
import type { SourceName } from '../state/rows.ts';
import type { Reason } from '../reasons.ts';
import type { OutcomeEntry } from './entries.ts';
import { millisecondsOf, type StreamId } from './stream-id.ts';

/** An outcome with its position in the stream. */
export interface Told {
  readonly id: StreamId;
  readonly entry: OutcomeEntry;
}

/** What a workload waits for after a change enqueued it. */
export interface Expectation {
  /** Null for a manual reload. */
  readonly source: SourceName | null;
  /** Unix milliseconds at which the watcher saw the change, by the clock that dates jobs. */
  readonly since: number;
  /** The earliest possible enqueue, in Unix milliseconds by Redis' clock. */
  readonly from: number;
  /** Id of the manual reload's request. */
  readonly request?: string | undefined;
}

/** Tolerance for differing clocks (ms): entries of other streams that are this much too old still count. */
export const TOLD_BEFORE = 60_000;

/**
 * `take`: the outcome belongs to the change. `ignore`: it does not. `close`: the outcome before was the right one, whatever
 * follows.
 */
export type Step = 'take' | 'ignore' | 'close';

/**
 * Decides whether a workload's next outcome, in the order of the stream, belongs to a change that enqueued it. A job is dated by
 * its first enqueue. A job dated at or after the change read the source with the change: *sure*. A job with an earlier date was
 * either waiting when the change enqueued it, and then its outcome belongs to the change; or running, and then another one follows
 * that was enqueued before it ended. An outcome that reloaded for the source is not replaced by one that did not, because the
 * latter found the work done.
 */
export function step(wanted: Expectation, current: Told | undefined, next: Told): Step {
  if (!isRelevant(wanted, next)) return 'ignore';
  if (!current || isOpen(wanted, current)) return 'take';
  if (current.entry.state === 'failed') return mends(wanted, next) ? 'take' : 'ignore';
  if (isSure(wanted, current)) return 'close';
  if (next.entry.since > millisecondsOf(current.id)) return 'close';
  return rolls(wanted, next) || !rolls(wanted, current) ? 'take' : 'ignore';
}

/** Whether the outcome replaces the pods for this change. */
export function rolls({ source }: Pick<Expectation, 'source'>, { entry }: Told): boolean {
  if (source === null) return entry.state === 'reloaded';
  return entry.rolled.includes(source);
}

function isSure({ since, request }: Expectation, { entry }: Told): boolean {
  if (request === undefined) return entry.since >= since;
  return entry.request !== undefined && requestedAt(entry.request.id) >= requestedAt(request);
}

function isRelevant(wanted: Expectation, next: Told): boolean {
  const { entry } = next;
  if (millisecondsOf(next.id) < wanted.from - TOLD_BEFORE) return false;
  if (isSure(wanted, next)) return true;
  if (millisecondsOf(next.id) < wanted.from) return false;
  const weighsNothing = isEmpty(entry.sources);
  if (wanted.source === null) return weighsNothing && entry.request === undefined && !isDone(entry);
  return weighsNothing || wanted.source in entry.sources;
}

/** Reasons for leaving a workload unchanged until somebody edits it. */
const LEFT_PENDING: ReadonlySet<string> = new Set([
  'Contested',
  'AnnotationsFull',
  'RecordTooLarge',
] satisfies Reason[]);

/** Whether another outcome will follow: of the next attempt, or because nothing could be decided yet. */
function isOpen(wanted: Expectation, told: Told): boolean {
  return isPassing(told.entry) || LEFT_PENDING.has(told.entry.reason) || isUndecided(wanted, told);
}

/** Whether another outcome follows by itself: of the next attempt, of another worker, or when the hold ends. */
export function isPassing({ state, reason }: OutcomeEntry): boolean {
  return state === 'retrying' || reason === 'KeyUnknown' || isHoldReason(reason);
}

/** Whether the job ended without a decision about the source; it is enqueued again. */
export function isUndecided({ source }: Pick<Expectation, 'source'>, { entry }: Told): boolean {
  const verdict = source === null ? undefined : entry.sources[source];
  return verdict === 'Wait' || verdict === 'KeyUnknown';
}

/** After a failure: whether the outcome shows that the workload is settled for the source. */
function mends({ source }: Expectation, { entry }: Told): boolean {
  if (entry.state === 'retrying' || entry.state === 'failed') return false;
  return source === null || source in entry.sources || entry.reason === 'WorkloadGone';
}

function isDone({ state }: OutcomeEntry): boolean {
  return state === 'reloaded' || state === 'recorded' || state === 'wouldReload';
}

function requestedAt(id: string): number {
  return Number(id.slice(0, id.indexOf('-')));
}

function isEmpty(record: Readonly<Record<string, string>>): boolean {
  for (const _ in record) return false;
  return true;
}
