import type { Clock } from '../client/clock.ts';

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/** A clock that moves only when told to. */
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

  /** Timers that have not run and were not cancelled. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Lets `ms` pass, running every timer at its time and everything that it set in motion. */
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

  /** As a process that is stopped and continued: time has passed and no timer has run yet. */
  freeze(ms: number): void {
    this.#now += ms;
  }
}

/** Runs what promises set in motion, as far as it needs no outside. */
async function drain(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
