import type { SourceName } from '../state/rows.ts';
import type { Reason } from '../reasons.ts';
import type { OutcomeEntry } from './entries.ts';
import { millisecondsOf, type StreamId } from './stream-id.ts';

/** An outcome with its place in the stream. */
export interface Told {
  readonly id: StreamId;
  readonly entry: OutcomeEntry;
}

/** What a workload that a change enqueued waits for. */
export interface Expectation {
  /** Null of a person's reload. */
  readonly source: SourceName | null;
  /** Unix milliseconds at which the watcher saw the change, by the clock by which jobs are dated. */
  readonly since: number;
  /** Unix milliseconds by Redis' clock before which the enqueue cannot have been. */
  readonly from: number;
  /** Id of the person's request. */
  readonly request?: string | undefined;
}

/** Clocks differ: entries of other streams count that are so much older than they can be (ms). */
export const TOLD_BEFORE = 60_000;

/** Take the outcome as that of the change; pass it over; or the one before was it, whatever comes. */
export type Step = 'take' | 'ignore' | 'close';

/**
 * Whether the next outcome of a workload, in the order of the stream, is what came of a change that enqueued it.
 *
 * A job is dated by its first enqueue. One of a date not before the change's read the source when it had the
 * change: *sure*. One dated earlier may have been waiting when the change enqueued it, and then is what came of it; or
 * was running, and then another follows, whose enqueue was before it ended. What rolled for the source is not
 * replaced by what did not: that one found the work done.
 */
export function step(wanted: Expectation, current: Told | undefined, next: Told): Step {
  if (!isRelevant(wanted, next)) return 'ignore';
  if (!current || isOpen(wanted, current)) return 'take';
  if (current.entry.state === 'failed') return mends(wanted, next) ? 'take' : 'ignore';
  if (isSure(wanted, current)) return 'close';
  if (next.entry.since > millisecondsOf(current.id)) return 'close';
  return rolls(wanted, next) || !rolls(wanted, current) ? 'take' : 'ignore';
}

/** Whether the pods are replaced for this change. */
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

/** Reasons for leaving a workload as it is until somebody edits it. */
const LEFT_PENDING: ReadonlySet<string> = new Set([
  'Contested',
  'AnnotationsFull',
  'RecordTooLarge',
] satisfies Reason[]);

/** Another outcome is to come: of the next attempt, or because nothing could be decided yet. */
function isOpen(wanted: Expectation, told: Told): boolean {
  const { state, reason } = told.entry;
  return state === 'retrying' || LEFT_PENDING.has(reason) || isUndecided(wanted, told);
}

/** The job ended without a decision about the source; it is enqueued again. */
export function isUndecided({ source }: Pick<Expectation, 'source'>, { entry }: Told): boolean {
  const verdict = source === null ? undefined : entry.sources[source];
  return verdict === 'Wait' || verdict === 'KeyUnknown';
}

/** After a failure: that the workload is settled for the source. */
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
