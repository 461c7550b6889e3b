import type { SourceKey } from '../../model.ts';
import { turn } from '../slices.ts';
import { isNewer, type Rv } from '../../rv.ts';
import { sourceChange } from './observe-source.ts';
import { stateOf, type DataState } from '../workloads/observe-workload.ts';
import type { FoundBy } from '../outbox.ts';
import type { SourceRow } from '../rows.ts';
import type { Triggers } from '../settings.ts';

/** Of one source, before the next one has its turn. */
const USERS_PER_TURN = 25;

export interface UserEvaluationBy {
  /** Users, at most, in one slice. */
  readonly perSlice: number;
  /** Evaluates the users of a source that changed, one before each yield. */
  readonly evaluate: (key: SourceKey, changes: SourceChanges) => Iterator<void>;
  /** Judges sources of workloads that had too many for the event that told of them, until it is over. */
  readonly judge: (isOver: () => boolean) => void;
  /** Whether there are such. */
  readonly hasUnjudged: () => boolean;
}

interface UnderWay {
  /** Whether it ends with a change job. */
  readonly job: SourceChanges['job'];
  readonly work: Iterator<void>;
}

/**
 * Evaluates the users of sources that changed, in slices. Sources take turns, a few users each, so that one with many
 * users holds up no other. Between slices anything may be observed: the row of a source is that of its last event at
 * once, and each user is judged by the rows of the moment.
 */
export class UserEvaluation {
  readonly #by: UserEvaluationBy;
  readonly #changed = new ChangedSources();
  /** Sources of which some users are evaluated and some are not, with what is left to do; in turn. */
  readonly #underWay = new Map<SourceKey, UnderWay>();
  #afterwards: Iterator<void> | null = null;
  /** Called when there is work of which no event tells. */
  onWork: () => void = () => undefined;

  constructor(by: UserEvaluationBy) {
    this.#by = by;
  }

  note(key: SourceKey, changes: SourceChanges): void {
    this.#changed.note(key, changes);
  }

  /** Work, in steps, that has time until no source is left to evaluate; in place of earlier such work. */
  afterwards(work: Iterator<void>): void {
    this.#afterwards = work;
    this.onWork();
  }

  /** One slice, which costly patterns make shorter. True if there is more to do in this window. */
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
    // A turn of its own: sources that change all the time do not keep it waiting.
    this.#by.judge(turn());
    return this.#hasWork;
  }

  get #hasWork(): boolean {
    return (
      this.#underWay.size > 0 || this.#changed.hasReady || this.#afterwards !== null || this.#by.hasUnjudged()
    );
  }

  /** Whether there are sources that are not evaluated again before the next window. */
  get isWindowOpen(): boolean {
    return this.#changed.isWindowOpen;
  }

  /** From now on sources that were evaluated may be again. Does nothing while some are under way. */
  nextWindow(): void {
    if (this.#underWay.size === 0) this.#changed.nextWindow();
  }

  /** No source and no workload is left, in this window or the next. */
  get isDone(): boolean {
    return this.#changed.isEmpty && this.#underWay.size === 0 && !this.#by.hasUnjudged();
  }

  /** Whether a source is yet to have a change job, if it is one to have any. */
  bringsJob(key: SourceKey): boolean {
    return (this.#underWay.get(key)?.job ?? this.#changed.get(key)?.job) !== undefined;
  }

  /** A source that is out of scope. */
  drop(key: SourceKey): void {
    this.#changed.drop(key);
    this.#underWay.delete(key);
  }

  #doSome(most: number): void {
    for (let step = 0; step < most && this.#afterwards; step += 1)
      if (this.#afterwards.next().done === true) this.#afterwards = null;
  }

  /** How many steps it took, one for each user and one for itself. What is not at its end goes to the end of the queue. */
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

/** Kept of one source; of more, what the earlier ones were is forgotten. */
const MAX_STATES = 8;
const NO_STATES: readonly DataState[] = Object.freeze([]);

/** What happened to a source since its users were last evaluated. */
export interface SourceChanges {
  /** Since when its annotations are others, or it is known here at all; undefined: that has not changed. */
  readonly rulesRv?: Rv | undefined;
  /**
   * The states that its data came to, the earliest first, with its deletion if that counts: what a record of a user is
   * compared with, by the resourceVersion of the user's template. At most `MAX_STATES`.
   */
  readonly states: readonly DataState[];
  /** Its users may be pending, or no longer. */
  readonly touches: boolean;
  /** Whether a change job comes for it: `used`, if a workload uses it then. */
  readonly job?: 'always' | 'used' | undefined;
  /** Whether that job enqueues the reload jobs: its data changed. One that only tells of a creation or deletion does not. */
  readonly jobReloads: boolean;
  /** It was not there before. */
  readonly isNew: boolean;
  readonly by: FoundBy;
}

/** How a new row of a source came about. */
export interface Seen {
  /** From when on dependencies that it begins are judged. */
  readonly at: Rv;
  readonly by: FoundBy;
  /** What its creation or deletion is told by: the row from before, if there was one. Absent: neither is told. */
  readonly known?: SourceRow | undefined;
}

/** What a new row of a source (`old`: the one before) means for its users. */
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
    by,
  };
}

function isThere(row: SourceRow | undefined): boolean {
  return row?.exists === true;
}

/** A creation or deletion that counts is told of, and so is a deletion of what is used, for the history. */
function jobOfNews(seen: Seen & { readonly row: SourceRow }, triggers: Triggers): SourceChanges['job'] {
  if (!('known' in seen)) return undefined;
  const existed = seen.known?.exists ?? false;
  if (existed === seen.row.exists) return undefined;
  const counts = existed ? triggers.onDelete !== 'never' : seen.row.created === true;
  if (counts) return triggers.announced === true ? 'always' : 'used';
  return existed && triggers.announced !== true ? 'used' : undefined;
}

/**
 * Sources of which the users are to be evaluated, first come first served, and each at most once in a window, however
 * many events it had: so a source that is written a thousand times a second costs its users no more than one that
 * is written once in a window. Holds identity and one small record for each, never more than there are sources.
 */
class ChangedSources {
  readonly #changes = new Map<SourceKey, SourceChanges>();
  /** Those of them that may be evaluated in this window. */
  readonly #ready = new Set<SourceKey>();
  /** Evaluated in this window. */
  readonly #evaluated = new Set<SourceKey>();

  note(key: SourceKey, changes: SourceChanges): void {
    const earlier = this.#changes.get(key);
    this.#changes.set(key, earlier ? merged(earlier, changes) : changes);
    if (!this.#evaluated.has(key)) this.#ready.add(key);
  }

  get(key: SourceKey): SourceChanges | undefined {
    return this.#changes.get(key);
  }

  /** The next one to evaluate now; undefined: none. */
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

  /** Something was evaluated in this window: what happened to it since waits for the next one. */
  get isWindowOpen(): boolean {
    return this.#evaluated.size > 0;
  }

  /** The next window begins. */
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

  /** Out of scope. */
  drop(key: SourceKey): void {
    this.#changes.delete(key);
    this.#ready.delete(key);
    this.#evaluated.delete(key);
  }
}

/** Two changes as one. A dependency that may have begun earlier is judged from then. */
function merged(a: SourceChanges, b: SourceChanges): SourceChanges {
  return {
    rulesRv: earlier(a.rulesRv, b.rulesRv),
    states: lastOf([...a.states, ...b.states]),
    touches: a.touches || b.touches,
    job: strongest(a.job, b.job),
    jobReloads: a.jobReloads || b.jobReloads,
    isNew: a.isNew || b.isNew,
    by: a.by === 'event' || b.by === 'event' ? 'event' : 'list',
  };
}

/** A template that was written while the source had a state that is not kept has an unverified record. */
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
