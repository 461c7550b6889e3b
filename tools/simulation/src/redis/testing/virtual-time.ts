import { vi } from 'vitest';
import type { PlainScheduler } from './plain-scheduler.ts';

/** Lets timers and the time of this process come from a scheduler. Returns what sets them back. */
export function useVirtualTime(scheduler: PlainScheduler): () => void {
  const after = (action: (...args: unknown[]) => void, delay = 0, ...args: unknown[]): Timer =>
    new Timer(scheduler, { run: () => action(...args), delay, repeats: false });
  const every = (action: (...args: unknown[]) => void, delay = 0, ...args: unknown[]): Timer =>
    new Timer(scheduler, { run: () => action(...args), delay, repeats: true });
  const cancel = (timer?: Timer): void => timer?.cancel();
  vi.stubGlobal('setTimeout', after);
  vi.stubGlobal('setInterval', every);
  vi.stubGlobal('clearTimeout', cancel);
  vi.stubGlobal('clearInterval', cancel);
  const date = vi.spyOn(Date, 'now').mockImplementation(() => scheduler.now());
  const random = vi.spyOn(Math, 'random').mockImplementation(() => scheduler.random());
  return () => {
    vi.unstubAllGlobals();
    date.mockRestore();
    random.mockRestore();
  };
}

interface Timing {
  readonly run: () => void;
  readonly delay: number;
  readonly repeats: boolean;
}

class Timer {
  readonly #scheduler: PlainScheduler;
  readonly #timing: Timing;
  #cancel: () => void;

  constructor(scheduler: PlainScheduler, timing: Timing) {
    this.#scheduler = scheduler;
    this.#timing = timing;
    this.#cancel = this.#start();
  }

  cancel(): void {
    this.#cancel();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  refresh(): this {
    this.#cancel();
    this.#cancel = this.#start();
    return this;
  }

  #start(): () => void {
    const { run, delay, repeats } = this.#timing;
    return this.#scheduler.after(Math.max(1, delay), undefined, () => {
      if (repeats) this.#cancel = this.#start();
      run();
    });
  }
}
