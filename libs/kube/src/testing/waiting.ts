/** Lets a test wait for a condition that is checked after each event. */
export class Waiting {
  readonly #looks = new Set<() => void>();

  look(): void {
    for (const look of this.#looks) look();
  }

  /** Resolves as soon as `condition` holds; rejects after 20 s with what was expected. */
  until(condition: () => boolean, expected: () => string): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(deadline);
        this.#looks.delete(look);
        if (error) reject(error);
        else resolve();
      };
      const look = (): void => {
        if (condition()) settle();
      };
      const deadline = setTimeout(() => settle(new Error(`expected ${expected()}`)), 20_000);
      this.#looks.add(look);
      look();
    });
  }
}
