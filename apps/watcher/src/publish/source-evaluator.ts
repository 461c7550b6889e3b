import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UserEvaluation } from '@reroll/core/state/sources/changed-sources';

/** The users of a source are evaluated at most once in so long (ms); at once if it was quiet. */
const WINDOW = 100;
/** After a window in which there was much to evaluate the next one is so long (ms). */
const LONG_WINDOW = 500;
/** Slices that are much. */
const MANY_SLICES = 8;

/**
 * Evaluates the users of sources that changed, slice by slice, with a turn of the event loop after each: many events of
 * one source as one, and no source holds up another.
 */
export class SourceEvaluator {
  readonly #evaluation: Pick<UserEvaluation, 'slice' | 'isWindowOpen' | 'nextWindow' | 'onWork'>;
  readonly #changed: () => void;
  #loop: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #slices = 0;
  /** The window was made longer: there was much to evaluate. */
  #isLong = false;
  #isStopped = false;

  /** `changed` is called after each slice. */
  constructor(
    evaluation: Pick<UserEvaluation, 'slice' | 'isWindowOpen' | 'nextWindow' | 'onWork'>,
    changed: () => void,
  ) {
    this.#evaluation = evaluation;
    this.#changed = changed;
    evaluation.onWork = () => this.kick();
  }

  /** To be called after anything was told to the cluster state. */
  kick(): void {
    if (!this.#isStopped) this.#loop ??= this.#run();
  }

  /** Ends after the slice that is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#loop;
  }

  async #run(): Promise<void> {
    if (!this.#evaluation.isWindowOpen) this.#slices = 0;
    let isMore = true;
    while (isMore && !this.#isStopped) {
      await nextTurn();
      isMore = this.#evaluation.slice();
      this.#slices += 1;
      this.#changed();
      this.#endWindowLater(WINDOW);
    }
    this.#loop = null;
  }

  /** Also while there is work: workloads that wait for their patterns keep no source waiting. */
  #endWindowLater(milliseconds: number): void {
    if (this.#evaluation.isWindowOpen && !this.#isStopped)
      this.#timer ??= setTimeout(() => this.#endWindow(), milliseconds);
  }

  #endWindow(): void {
    this.#timer = null;
    if (this.#slices > MANY_SLICES && !this.#isLong) {
      this.#isLong = true;
      this.#endWindowLater(LONG_WINDOW - WINDOW);
      return;
    }
    this.#isLong = false;
    this.#slices = 0;
    // It stays open while users of a source are being evaluated.
    this.#evaluation.nextWindow();
    this.#endWindowLater(WINDOW);
    this.kick();
  }
}
