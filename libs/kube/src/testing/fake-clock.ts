import type { Clock } from '../client/clock.ts';

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/** A clock that moves only on request. */
export class FakeClock implements Clock {
  #now = 1000;
  #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, task: () => void): () => void {
    const timer = { at: this.#now + ms, task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Timers that have neither run nor been cancelled. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Advances by `ms`, running every timer at its time and everything that it triggers. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await drain();
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.at);
      this.#timers = this.#timers.filter((other) => other !== next);
      next.task();
      await drain();
    }
    this.#now = end;
  }

  /** Simulates a process that was stopped and continued: time has passed, and no timer has run yet. */
  freeze(ms: number): void {
    this.#now += ms;
  }
}

/** Runs what promises trigger, as far as it needs nothing from outside. */
async function drain(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
