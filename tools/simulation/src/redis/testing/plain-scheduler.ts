import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Owner, Scheduler } from '../../scheduler.ts';

interface Event {
  readonly at: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  action: (() => void) | undefined;
}

/** A scheduler for specs: events in the order of their times. Between two events, all that the first one caused has run. */
export class PlainScheduler implements Scheduler {
  readonly #events: Event[] = [];
  #now: number;
  #order = 0;
  #state: number;

  constructor(seed = 1, now = 1_800_000_000_000) {
    this.#state = seed;
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    // mulberry32
    this.#state = (this.#state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  after(milliseconds: number, owner: Owner | undefined, action: () => void): () => void {
    const event: Event = { at: this.#now + milliseconds, order: this.#order, owner, action };
    this.#order++;
    this.#events.splice(this.#placeOf(event), 0, event);
    return () => {
      event.action = undefined;
    };
  }

  /** Runs until the promise is settled. Throws if nothing is left to run before. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    for (;;) {
      await nextTurn();
      if (isSettled) return await promise;
      if (!this.#step()) throw new Error('nothing is left to run, and the promise is not settled');
    }
  }

  #step(): boolean {
    const event = this.#events.shift();
    if (!event) return false;
    this.#now = Math.max(this.#now, event.at);
    if (event.owner === undefined || event.owner.isAlive) event.action?.();
    return true;
  }

  #placeOf({ at }: Event): number {
    let place = this.#events.length;
    while (place > 0 && (this.#events[place - 1]?.at ?? 0) > at) place--;
    return place;
  }
}
