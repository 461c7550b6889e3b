import type { SourceKey } from '../model.ts';
import { ChangedSources, type SourceChanges } from './changed-sources.ts';
import { turn } from './turn.ts';

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
