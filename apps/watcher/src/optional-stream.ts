import { Backoff } from '@reroll/shared/kube/backoff';
import { pause, systemClock } from '@reroll/shared/kube/clock';
import { KubeError, errorClass } from '@reroll/shared/kube/errors';
import type { Reflector } from '@reroll/shared/kube/reflector';
import type { Logger } from '@reroll/shared/platform/logging';

export type Stream = Pick<Reflector<unknown>, 'start' | 'stop' | 'waitSynced' | 'status'>;

export interface OptionalStreamContext {
  /** Whether the API server has the kind now; rejects if it cannot tell. */
  readonly isServed: (signal: AbortSignal) => Promise<boolean>;
  /** New streams, not started; `onMissing` is called when one of them finds its collection gone. */
  readonly open: (onMissing: () => void) => readonly Stream[];
  /** Every object of the kind is gone with its API. May reject, and is called again then. */
  readonly gone: () => Promise<void>;
  /** Milliseconds between two questions. */
  readonly interval: number;
  readonly log: Logger;
}

/** How long the end of streams whose API is gone may take. */
const STOP = 3_000;

/**
 * The streams of a kind whose API may come and go: begun when the API server has it, ended when it has it no
 * more. That it cannot be told is neither: what was known stays, and it is asked again, with a back-off.
 */
export class OptionalStream {
  readonly #context: OptionalStreamContext;
  readonly #stopping = new AbortController();
  readonly #backoff: Backoff;
  #streams: readonly Stream[] = [];
  #isPresent: boolean | undefined;
  #hasListed = false;
  #loop: Promise<void> | undefined;
  #lookNow = new AbortController();

  constructor(context: OptionalStreamContext) {
    this.#context = context;
    this.#backoff = new Backoff({ maxMs: context.interval });
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /**
   * Whether nothing that is known here can tell which objects of the kind exist: the API server has not
   * answered yet, or the first list is not complete.
   */
  get isUndecided(): boolean {
    if (this.#isPresent === undefined) return true;
    return this.#isPresent && !this.#isListed();
  }

  /** Its lists are complete and go on without a gap. True also before the first of them, and without an API. */
  get isSynced(): boolean {
    return this.isUndecided || this.#streams.every(({ status }) => status.synced);
  }

  async stop(timeout: number): Promise<void> {
    this.#stopping.abort();
    this.#lookNow.abort();
    await Promise.all([this.#loop, ...this.#streams.map((stream) => stream.stop(timeout))]);
  }

  #isListed(): boolean {
    this.#hasListed ||= this.#streams.every(({ status }) => status.synced);
    return this.#hasListed;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const delay = await this.#attempt();
      // The pause ends early, by this very controller, when a stream finds its collection gone.
      await pause(systemClock, delay, this.#lookNow.signal);
      if (!this.#stopping.signal.aborted) this.#lookNow = new AbortController();
    }
  }

  /** The delay before the next. */
  async #attempt(): Promise<number> {
    const { interval, log } = this.#context;
    try {
      await this.#look();
      this.#backoff.reset();
      return interval;
    } catch (error) {
      const delay = this.#backoff.next();
      if (!this.#stopping.signal.aborted) {
        const { code, status } = error instanceof KubeError ? error : { code: errorClass(error), status: 0 };
        log.warning('cannot tell whether the API server has this kind, asking again', {
          code,
          status,
          milliseconds: Math.round(delay),
        });
      }
      return delay;
    }
  }

  async #look(): Promise<void> {
    const isPresent = await this.#context.isServed(this.#stopping.signal);
    if (this.#stopping.signal.aborted || isPresent === this.#isPresent) return;
    if (isPresent) this.#begin();
    else await this.#end();
    this.#isPresent = isPresent;
  }

  #begin(): void {
    this.#context.log.info('the API server has this kind, following it');
    this.#hasListed = false;
    this.#streams = this.#context.open(() => this.#lookNow.abort());
    for (const stream of this.#streams) stream.start();
  }

  async #end(): Promise<void> {
    // At the first answer nothing is known of the kind, unless it took so long that a leader began without it.
    if (this.#isPresent === undefined && this.#backoff.attempts === 0) return;
    this.#context.log.info('the API server has this kind no more');
    await Promise.all(this.#streams.map((stream) => stream.stop(STOP)));
    this.#streams = [];
    await this.#context.gone();
  }
}
