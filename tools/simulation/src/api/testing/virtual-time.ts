import type { Owner, Scheduler } from '../../scheduler.ts';

interface Event {
  readonly at: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  readonly action: () => void;
  isCancelled: boolean;
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** A scheduler for specs: virtual time, and everything that an event causes runs before the next one. */
export class VirtualTime implements Scheduler {
  readonly #heap: Event[] = [];
  #now: number;
  #order = 0;
  #state: number;

  constructor(seed = 1, start = Date.UTC(2026, 0, 2)) {
    this.#state = seed;
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  /** mulberry32. */
  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  after(milliseconds: number, owner: Owner | undefined, action: () => void): () => void {
    const at = this.#now + Math.max(0, milliseconds);
    const event: Event = { at, order: (this.#order += 1), owner, action, isCancelled: false };
    this.#push(event);
    return () => {
      event.isCancelled = true;
    };
  }

  /** Runs all events of the next virtual milliseconds. */
  async run(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await settled();
    for (let next = this.#heap[0]; next !== undefined && next.at <= end; next = this.#heap[0]) {
      this.#pop();
      if (next.isCancelled || next.owner?.isAlive === false) continue;
      this.#now = next.at;
      next.action();
      await settled();
    }
    this.#now = end;
  }

  /** Runs events until the promise settles. Throws if that takes more than an hour. */
  async until<T>(promise: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const settle = (): void => {
      state.isSettled = true;
    };
    promise.then(settle, settle);
    const end = this.#now + 3_600_000;
    await settled();
    while (!state.isSettled) {
      const next = this.#heap[0];
      if (next === undefined || next.at > end)
        throw new Error('expected the promise to settle within an hour');
      await this.run(next.at - this.#now);
    }
    return promise;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(event);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(event, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const right = heap[child + 1];
      let least = heap[child];
      if (least !== undefined && right !== undefined && isBefore(right, least)) {
        child += 1;
        least = right;
      }
      if (least === undefined || !isBefore(least, last)) break;
      heap[index] = least;
      index = child;
    }
    heap[index] = last;
  }
}

/** Turns of the event loop after each event: the Reflector waits for turns of its own between batches. */
const TURNS = 4;

/** Resolves when all microtasks and next ticks have run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
