/** Runs the tasks of one key one after the other, in order, beside those of other keys. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<void>>();

  /** Rejects with the task's error. */
  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    const mine = Promise.withResolvers<void>();
    this.#last.set(key, mine.promise);
    try {
      await before;
      return await task();
    } finally {
      mine.resolve();
      if (this.#last.get(key) === mine.promise) this.#last.delete(key);
    }
  }
}
