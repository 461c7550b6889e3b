import { calmFor } from './state/calm.ts';

interface AskingBy<Data> {
  readonly call: (signal: AbortSignal) => Promise<Data>;
  readonly onData: (data: Data) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * One question that is asked again and again, one request at a time. While the API wants to be left alone it waits, and then asks
 * once.
 */
export class Asking<Data> {
  readonly #by: AskingBy<Data>;
  #running: AbortController | undefined;
  #isOwed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(by: AskingBy<Data>) {
    this.#by = by;
  }

  /** There may be something new. A request that is under way is let end, and followed by another one. */
  ask(): void {
    if (this.#running) this.#isOwed = true;
    else this.#start();
  }

  /** A person wants it now: what is under way is overtaken. */
  refresh(): void {
    this.#end();
    this.#start();
  }

  /** Nobody wants an answer any more. */
  stop(): void {
    this.#end();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #end(): void {
    this.#isOwed = false;
    this.#running?.abort();
    this.#running = undefined;
  }

  #start(): void {
    if (this.#timer !== undefined) return;
    const wait = calmFor();
    if (wait > 0) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#start();
      }, wait);
      return;
    }
    const mine = new AbortController();
    this.#running = mine;
    const { call, onData, onError } = this.#by;
    call(mine.signal).then(
      (data) => this.#ended(mine, () => onData(data)),
      (error: unknown) => this.#ended(mine, () => onError(error)),
    );
  }

  #ended(mine: AbortController, take: () => void): void {
    if (this.#running !== mine) return;
    this.#running = undefined;
    const isOwed = this.#isOwed || calmFor() > 0;
    this.#isOwed = false;
    take();
    if (isOwed) this.#start();
  }
}
