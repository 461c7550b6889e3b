import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UserEvaluation } from '@reroll/shared/core/ledger/user-evaluation';

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

  /** To be called after anything was told to the ledger. */
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
    }
    this.#loop = null;
    if (this.#evaluation.isWindowOpen && !this.#isStopped) this.#endWindowLater();
  }

  #endWindowLater(): void {
    this.#timer ??= setTimeout(() => this.#endWindow(), this.#slices > MANY_SLICES ? LONG_WINDOW : WINDOW);
  }

  #endWindow(): void {
    this.#timer = null;
    this.#slices = 0;
    // While users are being evaluated the window stays open; the end of that asks again.
    if (this.#loop) return;
    this.#evaluation.nextWindow();
    this.kick();
  }
}
