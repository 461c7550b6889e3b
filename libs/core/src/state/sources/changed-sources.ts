import type { SourceKey } from '../../model.ts';
import { NamespaceTurns } from '../namespace-turns.ts';
import { turn } from '../slices.ts';
import { isNewer, type Rv } from '../../rv.ts';
import { sourceChange } from './observe-source.ts';
import { stateOf, type DataState } from '../workloads/observe-workload.ts';
import type { FoundBy } from '../outbox.ts';
import type { SourceRow } from '../rows.ts';
import type { Triggers } from '../settings.ts';

/** Users of one source to evaluate before the next source has its turn. */
const USERS_PER_TURN = 25;

export interface UserEvaluationBy {
  /** The most users in one slice. */
  readonly perSlice: number;
  /** Evaluates the users of a changed source, one before each yield. */
  readonly evaluate: (key: SourceKey, changes: SourceChanges) => Iterator<void>;
  /** Judges the unjudged sources of workloads until `isOver`. */
  readonly judge: (isOver: () => boolean) => void;
  readonly hasUnjudged: () => boolean;
}

interface UnderWay {
  /** The change job that ends the evaluation, if any. */
  readonly job: SourceChanges['job'];
  readonly work: Iterator<void>;
}

/**
 * Evaluates the users of changed sources, in slices, each source at most once in a window. So a source that is written a thousand
 * times a second costs no more than one that is written once in a window. Namespaces take turns, and so do the sources of each, of a
 * few users, so that a source with many users does not delay the others. Between slices, events may be observed: they update rows at
 * once, and each user is judged by the current rows.
 */
export class UserEvaluation {
  readonly #by: UserEvaluationBy;
  /** What happened to sources that are to be evaluated, in this window or the next. */
  readonly #changes = new Map<SourceKey, SourceChanges>();
  /** Sources that may be evaluated now, with the remaining work if some of their users were. */
  readonly #turns = new NamespaceTurns<SourceKey, UnderWay | null>();
  /** Sources whose evaluation began in this window, or is under way since an earlier one. Their later changes wait for the next. */
  readonly #evaluated = new Set<SourceKey>();
  #afterwards: Iterator<void> | null = null;
  /** Called when there is work that no event brought. */
  onWork: () => void = () => undefined;

  constructor(by: UserEvaluationBy) {
    this.#by = by;
  }

  note(key: SourceKey, changes: SourceChanges): void {
    const earlier = this.#changes.get(key);
    this.#changes.set(key, earlier ? merged(earlier, changes) : changes);
    if (!this.#evaluated.has(key)) this.#turns.put(key, null);
  }

  /** Sets work, in steps, to do once no source is left to evaluate. Replaces such work set earlier. */
  afterwards(work: Iterator<void>): void {
    this.#afterwards = work;
    this.onWork();
  }

  /** Runs one slice, which ends early if its turn is over. Returns true if this window has more to do. */
  slice(): boolean {
    const isOver = turn();
    for (let left = this.#by.perSlice; left > 0 && !isOver();) {
      const next = this.#turns.take();
      if (!next) {
        this.#doSome(left, isOver);
        break;
      }
      const [key, begun] = next;
      const underWay = begun ?? this.#begin(key);
      const most = Math.min(left, USERS_PER_TURN);
      if (underWay) left -= this.#evaluateSome(key, underWay, { most, isOver });
    }
    // Judging has its own turn, so that sources that change all the time do not delay it.
    this.#by.judge(turn());
    return !this.#turns.isEmpty || this.#afterwards !== null || this.#by.hasUnjudged();
  }

  /** Whether there are sources that must wait for the next window. */
  get isWindowOpen(): boolean {
    return this.#evaluated.size > 0;
  }

  /** Allows sources that were evaluated to be evaluated again, except those under way: they wait for the window after their end. */
  nextWindow(): void {
    for (const key of this.#evaluated) {
      if (this.#turns.get(key)) continue;
      this.#evaluated.delete(key);
      if (this.#changes.has(key)) this.#turns.put(key, null);
    }
  }

  /** Whether no source and no workload is left, in this window or the next. */
  get isDone(): boolean {
    return this.#changes.size === 0 && this.#turns.isEmpty && !this.#by.hasUnjudged();
  }

  /** Whether the evaluation of this source may still enqueue a change job. */
  bringsJob(key: SourceKey): boolean {
    return (this.#turns.get(key)?.job ?? this.#changes.get(key)?.job) !== undefined;
  }

  /** Drops a source that left the scope. */
  drop(key: SourceKey): void {
    this.#changes.delete(key);
    this.#turns.drop(key);
    this.#evaluated.delete(key);
  }

  #doSome(most: number, isOver: () => boolean): void {
    for (let step = 0; step < most && this.#afterwards && !isOver(); step += 1)
      if (this.#afterwards.next().done === true) this.#afterwards = null;
  }

  #begin(key: SourceKey): UnderWay | undefined {
    const changes = this.#changes.get(key);
    if (!changes) return undefined;
    this.#changes.delete(key);
    this.#evaluated.add(key);
    return { job: changes.job, work: this.#by.evaluate(key, changes) };
  }

  /** Returns the steps taken: one for each user and one for the source. An unfinished source goes to the end of the queue. */
  #evaluateSome(
    key: SourceKey,
    underWay: UnderWay,
    { most, isOver }: { most: number; isOver: () => boolean },
  ): number {
    for (let step = 1; step <= most && !(step > 1 && isOver()); step += 1)
      if (underWay.work.next().done === true) return step;
    this.#turns.put(key, underWay);
    return most;
  }
}

/** The most states kept of one source. Earlier ones are replaced by one with an unknown hash. */
const MAX_STATES = 8;
const NO_STATES: readonly DataState[] = Object.freeze([]);

/** What happened to a source since its users were last evaluated. */
export interface SourceChanges {
  /**
   * The resourceVersion since which its annotations changed, or since which the source is known here; undefined if neither changed.
   */
  readonly rulesRv?: Rv | undefined;
  /**
   * The states of its data, earliest first, with its deletion if deletions count. A user's record is compared with the state at the
   * user's templateRv. At most `MAX_STATES`.
   */
  readonly states: readonly DataState[];
  /** Its users may have become pending or settled. */
  readonly touches: boolean;
  /** Whether the change gets a change job: `used` means only if a workload uses the source at that time. */
  readonly job?: 'always' | 'used' | undefined;
  /** Whether the job enqueues reload jobs, because the data changed. A job that only reports a creation or deletion does not. */
  readonly jobReloads: boolean;
  /** The source did not exist before. */
  readonly isNew: boolean;
  /**
   * The source was created and was never known here; at this resourceVersion it was absent. Its data dates from there, so that
   * dependencies without a record do too: a creation alone needs no reload. Undefined if creations count.
   */
  readonly absentAt?: Rv | undefined;
  readonly by: FoundBy;
}

/** How a new row of a source was found. */
export interface Seen {
  /** The resourceVersion from which dependencies that begin with this row are judged. */
  readonly at: Rv;
  readonly by: FoundBy;
  /** The row before, if there was one, to detect a creation or deletion. Absent: neither is reported. */
  readonly known?: SourceRow | undefined;
}

/** Returns what a new row of a source means for its users; `old` is the row before. */
export function changesOf(
  seen: Seen & { readonly old: SourceRow | undefined; readonly row: SourceRow },
  triggers: Triggers,
): SourceChanges {
  const { old, row, at, by } = seen;
  const { rules, data, gone, labels } = sourceChange(old, row);
  const jobReloads = data && old !== undefined;
  const ofData = jobReloads ? 'always' : undefined;
  return {
    rulesRv: rules ? at : undefined,
    states: data || (gone && triggers.onCreate) ? [stateOf(row)] : NO_STATES,
    touches: rules || data || gone || labels,
    job: strongest(ofData, jobOfNews(seen, triggers)),
    jobReloads,
    isNew: !isThere(old),
    absentAt: lastAbsent(seen),
    by,
  };
}

/** Where a source that was never known was absent, unless its creation counts or it was found by a list. */
function lastAbsent({
  old,
  row,
  by,
}: Seen & { readonly old: SourceRow | undefined; readonly row: SourceRow }): Rv | undefined {
  return old === undefined && by === 'event' && row.created !== true ? row.dataRv : undefined;
}

function isThere(row: SourceRow | undefined): boolean {
  return row?.exists === true;
}

/**
 * Returns the job that reports a creation or deletion: one that counts or, for the history, the deletion of a source that is used.
 */
function jobOfNews(seen: Seen & { readonly row: SourceRow }, triggers: Triggers): SourceChanges['job'] {
  if (!('known' in seen)) return undefined;
  const existed = seen.known?.exists ?? false;
  if (existed === seen.row.exists) return undefined;
  const counts = existed ? triggers.onDelete !== 'never' : seen.row.created === true;
  if (counts) return triggers.announced === true ? 'always' : 'used';
  return existed && triggers.announced !== true ? 'used' : undefined;
}

/** Merges two changes. A dependency is judged from the earlier `rulesRv`. */
function merged(a: SourceChanges, b: SourceChanges): SourceChanges {
  return {
    rulesRv: earlier(a.rulesRv, b.rulesRv),
    states: lastOf([...a.states, ...b.states]),
    touches: a.touches || b.touches,
    job: strongest(a.job, b.job),
    jobReloads: a.jobReloads || b.jobReloads,
    isNew: a.isNew || b.isNew,
    absentAt: a.absentAt ?? b.absentAt,
    by: a.by === 'event' || b.by === 'event' ? 'event' : 'list',
  };
}

/** A record is unverified if its template was written while the source had a state that is not kept. */
function lastOf(states: readonly DataState[]): readonly DataState[] {
  const [first] = states;
  if (!first || states.length <= MAX_STATES) return states;
  return [{ from: first.from, hash: undefined }, ...states.slice(1 - MAX_STATES)];
}

function strongest(a: SourceChanges['job'], b: SourceChanges['job']): SourceChanges['job'] {
  return a === 'always' || b === 'always' ? 'always' : (a ?? b);
}

function earlier(a: Rv | undefined, b: Rv | undefined): Rv | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return isNewer(a, b) ? b : a;
}
