import type { Owner, Scheduler } from '../../scheduler.ts';

/** A scheduler in real time, to compare with a real Redis. */
export class LiveScheduler implements Scheduler {
  now(): number {
    return Math.floor(performance.timeOrigin + performance.now());
  }

  random(): number {
    return 0.5;
  }

  after(milliseconds: number, owner: Owner | undefined, action: () => void): () => void {
    const run = (): void => {
      if (owner === undefined || owner.isAlive) action();
    };
    if (milliseconds <= 0) {
      const immediate = setImmediate(run);
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  }
}
