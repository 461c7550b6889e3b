import type { SourceKey } from '../../model.ts';
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
 * Evaluates the users of changed sources, in slices. Sources take turns of a few users each, so that a source with many users does
 * not delay the others. Between slices, events may be observed: they update rows at once, and each user is judged by the current
 * rows.
 */
export class UserEvaluation {
  readonly #by: UserEvaluationBy;
  readonly #changed = new ChangedSources();
  /** Sources with some users evaluated and some not, with the remaining work, in order of their turns. */
  readonly #underWay = new Map<SourceKey, UnderWay>();
  #afterwards: Iterator<void> | null = null;
  /** Called when there is work that no event brought. */
  onWork: () => void = () => undefined;

  constructor(by: UserEvaluationBy) {
    this.#by = by;
  }

  note(key: SourceKey, changes: SourceChanges): void {
    this.#changed.note(key, changes);
  }

  /** Sets work, in steps, to do once no source is left to evaluate. Replaces such work set earlier. */
  afterwards(work: Iterator<void>): void {
    this.#afterwards = work;
    this.onWork();
  }

  /** Runs one slice, shorter with costly patterns. Returns true if this window has more to do. */
  slice(): boolean {
    const isOver = turn();
    for (let left = this.#by.perSlice; left > 0 && !isOver();) {
      const next = this.#changed.take();
      if (next) this.#underWay.set(next[0], { job: next[1].job, work: this.#by.evaluate(...next) });
      const [first] = this.#underWay;
      if (!first) {
        this.#doSome(left);
        break;
      }
      left -= this.#evaluateSome(...first, { most: Math.min(left, USERS_PER_TURN), isOver });
    }
    // Judging has its own turn, so that sources that change all the time do not delay it.
    this.#by.judge(turn());
    return this.#hasWork;
  }

  get #hasWork(): boolean {
    return (
      this.#underWay.size > 0 || this.#changed.hasReady || this.#afterwards !== null || this.#by.hasUnjudged()
    );
  }

  /** Whether there are sources that must wait for the next window. */
  get isWindowOpen(): boolean {
    return this.#changed.isWindowOpen;
  }

  /** Allows sources that were evaluated to be evaluated again. Does nothing while some are under way. */
  nextWindow(): void {
    if (this.#underWay.size === 0) this.#changed.nextWindow();
  }

  /** Whether no source and no workload is left, in this window or the next. */
  get isDone(): boolean {
    return this.#changed.isEmpty && this.#underWay.size === 0 && !this.#by.hasUnjudged();
  }

  /** Whether the evaluation of this source may still enqueue a change job. */
  bringsJob(key: SourceKey): boolean {
    return (this.#underWay.get(key)?.job ?? this.#changed.get(key)?.job) !== undefined;
  }

  /** Drops a source that left the scope. */
  drop(key: SourceKey): void {
    this.#changed.drop(key);
    this.#underWay.delete(key);
  }

  #doSome(most: number): void {
    for (let step = 0; step < most && this.#afterwards; step += 1)
      if (this.#afterwards.next().done === true) this.#afterwards = null;
  }

  /** Returns the steps taken: one for each user and one for the source. An unfinished source goes to the end of the queue. */
  #evaluateSome(
    key: SourceKey,
    underWay: UnderWay,
    { most, isOver }: { most: number; isOver: () => boolean },
  ): number {
    this.#underWay.delete(key);
    for (let step = 1; step <= most && !(step > 1 && isOver()); step += 1)
      if (underWay.work.next().done === true) return step;
    this.#underWay.set(key, underWay);
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
  const { rules, data, gone } = sourceChange(old, row) ?? { rules: false, data: false, gone: false };
  const jobReloads = data && old !== undefined;
  const ofData = jobReloads ? 'always' : undefined;
  return {
    rulesRv: rules ? at : undefined,
    states: data || (gone && triggers.onCreate) ? [stateOf(row)] : NO_STATES,
    touches: rules || data || gone,
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

/**
 * Sources whose users are to be evaluated, first come, first served, each at most once in a window. So a source that is written a
 * thousand times a second costs no more than one that is written once in a window. Holds one small entry for each source at most.
 */
class ChangedSources {
  readonly #changes = new Map<SourceKey, SourceChanges>();
  /** Sources that may be evaluated in this window. */
  readonly #ready = new Set<SourceKey>();
  /** Sources that were evaluated in this window. */
  readonly #evaluated = new Set<SourceKey>();

  note(key: SourceKey, changes: SourceChanges): void {
    const earlier = this.#changes.get(key);
    this.#changes.set(key, earlier ? merged(earlier, changes) : changes);
    if (!this.#evaluated.has(key)) this.#ready.add(key);
  }

  get(key: SourceKey): SourceChanges | undefined {
    return this.#changes.get(key);
  }

  /** Takes the next source to evaluate now; undefined if there is none. */
  take(): readonly [SourceKey, SourceChanges] | undefined {
    for (const key of this.#ready) {
      const changes = this.#changes.get(key);
      this.#ready.delete(key);
      this.#changes.delete(key);
      if (!changes) continue;
      this.#evaluated.add(key);
      return [key, changes];
    }
    return undefined;
  }

  /** Whether a source was evaluated in this window; its later changes wait for the next one. */
  get isWindowOpen(): boolean {
    return this.#evaluated.size > 0;
  }

  nextWindow(): void {
    this.#evaluated.clear();
    for (const key of this.#changes.keys()) this.#ready.add(key);
  }

  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  get hasReady(): boolean {
    return this.#ready.size > 0;
  }

  drop(key: SourceKey): void {
    this.#changes.delete(key);
    this.#ready.delete(key);
    this.#evaluated.delete(key);
  }
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
