import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UserEvaluation } from '@reroll/core/state/sources/changed-sources';

/**
 * Milliseconds in which a source's users are evaluated at most once; at once after a quiet time. Shorter than the least quiet period
 * of the debounce, so that each change of a burst puts off the reloads of the one before.
 */
const WINDOW = 50;
/** Milliseconds of a window in which there is much to evaluate. */
const LONG_WINDOW = 500;
/** A window with more slices than this is extended. */
const MANY_SLICES = 4;

/**
 * Evaluates the users of changed sources in slices, with a turn of the event loop after each. Several events of one
 * source are evaluated as one, and no source blocks another.
 */
export class SourceEvaluator {
  readonly #evaluation: Pick<UserEvaluation, 'slice' | 'isWindowOpen' | 'nextWindow' | 'onWork'>;
  readonly #changed: () => void;
  #loop: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #slices = 0;
  /** Whether the current window was extended because there was much to evaluate. */
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

  /** Call this after every update of the cluster state. */
  kick(): void {
    if (!this.#isStopped) this.#loop ??= this.#run();
  }

  /** Stops after the slice that is under way. */
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

  /** Runs during the work too, so that workloads waiting for their patterns do not delay sources. */
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
    this.#evaluation.nextWindow();
    this.#endWindowLater(WINDOW);
    this.kick();
  }
}
