/** Monotonic time; specs replace it by a fake. */
export interface Clock {
  /** Milliseconds since a fixed point. Never goes back, and continues while the process is frozen. */
  now(): number;
  /** Runs `task` once after `ms`. The returned function cancels it. */
  after(ms: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, task) => {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or at once when the signal fires. Never rejects; the caller checks the signal. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
  });
}
