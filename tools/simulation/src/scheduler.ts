/** One queue of events in virtual time. What decides between events is the seed, and nothing else. */
import { Random } from './random.ts';

/** A simulated process. What belongs to it no longer runs once it is killed. */
export interface Owner {
  readonly name: string;
  isAlive: boolean;
  /** Milliseconds by which its wall clock is ahead of the virtual time. */
  clockSkew?: number;
  /** Until then, in virtual milliseconds, it is stopped as by SIGSTOP: its events wait. */
  frozenUntil?: number;
}

export interface Scheduler {
  /** Virtual Unix milliseconds. */
  now(): number;
  /** Seeded, in [0, 1). */
  random(): number;
  /**
   * Runs the action once after so many virtual milliseconds (0: as soon as what runs now has ended), unless its owner was killed by
   * then. `undefined` as owner: the world itself. Returns what cancels it.
   */
  after(milliseconds: number, owner: Owner | undefined, action: () => void): () => void;
}

interface Event {
  at: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  action: (() => void) | undefined;
}

/** The real one, taken before anything replaces it. */
const realImmediate = setImmediate;
const HOUR = 3_600_000;

/** Runs events in the order of their time, and of their creation where that is the same. */
export class Events implements Scheduler {
  /** Whose event runs now, or whose consequences. */
  current: Owner | undefined;
  readonly #seed: number;
  readonly #turns: number;
  readonly #random: Random;
  /** For what the processes ask for; anew for each event. */
  #drawn: Random;
  #happened = 0;
  readonly #heap: Event[] = [];
  #now: number;
  #order = 0;

  /** `turns`: of the event loop after each event, until what follows from it has run. */
  constructor(seed: number, start: number, turns = 1) {
    this.#seed = seed;
    this.#turns = turns;
    this.#random = new Random(seed);
    this.#drawn = new Random(seed);
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return this.#random.next();
  }

  /**
   * A random number for a process. The numbers of one event do not depend on those before it: libraries draw some in advance, and
   * keep them from one run to the next.
   */
  draw(): number {
    return this.#drawn.next();
  }

  after(milliseconds: number, owner: Owner | undefined, action: () => void): () => void {
    const at = this.#now + Math.max(0, milliseconds);
    const event: Event = { at, order: (this.#order += 1), owner, action };
    this.#push(event);
    return () => {
      event.action = undefined;
    };
  }

  /** Runs what is due until so many milliseconds have passed. Rejects with what an event throws. */
  async run(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await this.#settle();
    for (let next = this.#heap[0]; next !== undefined && next.at <= end; next = this.#heap[0]) {
      this.#pop();
      await this.#happen(next);
    }
    this.#now = end;
  }

  /** Runs events until the promise is settled. Rejects if that takes more than an hour. */
  async until<T>(promise: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const settle = (): void => {
      state.isSettled = true;
    };
    promise.then(settle, settle);
    const end = this.#now + HOUR;
    await this.#settle();
    while (!state.isSettled) {
      const next = this.#heap[0];
      if (next === undefined || next.at > end)
        throw new Error('expected the promise to settle within an hour');
      this.#pop();
      await this.#happen(next);
    }
    return await promise;
  }

  /** Runs it now as the owner's, with all that follows from it without a wait. */
  async as(owner: Owner | undefined, action: () => void): Promise<void> {
    const before = this.current;
    this.current = owner;
    action();
    await this.#settle();
    this.current = before;
  }

  async #happen(event: Event): Promise<void> {
    const { owner, action } = event;
    if (action === undefined || owner?.isAlive === false) return;
    this.#now = Math.max(this.#now, event.at);
    const thaw = owner?.frozenUntil ?? 0;
    if (thaw > this.#now) {
      event.at = thaw;
      this.#push(event);
      return;
    }
    event.action = undefined;
    this.#happened += 1;
    this.#drawn = new Random(Math.imul(this.#seed + 1, 0x9e3779b1) ^ Math.imul(this.#happened, 0x85ebca6b));
    await this.as(owner, action);
  }

  /** Resolves when all microtasks and next ticks have run. */
  async #settle(): Promise<void> {
    for (let turn = 0; turn < this.#turns; turn += 1)
      await new Promise<void>((resolve) => realImmediate(resolve));
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || isBefore(parent, event)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const child = smallerChild(heap, at);
      const below = heap[child];
      if (below === undefined || isBefore(last, below)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}

function smallerChild(heap: readonly Event[], at: number): number {
  const left = heap[2 * at + 1];
  const right = heap[2 * at + 2];
  return left && right && isBefore(right, left) ? 2 * at + 2 : 2 * at + 1;
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
