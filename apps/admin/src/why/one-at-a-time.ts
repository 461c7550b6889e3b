/** Tasks of one key run one after the other, in their order; those of others go on beside them. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<void>>();

  /** Rejects as the task does. */
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
