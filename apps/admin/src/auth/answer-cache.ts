interface Kept<T> {
  readonly answer: Promise<T>;
  /** By `performance.now()`; infinite while the question is being asked. */
  until: number;
}

export interface AnswerCacheSettings<T> {
  /** The maximum number of answers; the oldest are dropped. */
  readonly most: number;
  /** Milliseconds for which an answer is kept. */
  readonly keptFor: (answer: T) => number;
  /** Default `performance.now`. */
  readonly now?: () => number;
}

/** Caches answers that cost a request. The same question is asked once at a time; errors are not cached. */
export class AnswerCache<T> {
  readonly #settings: AnswerCacheSettings<T>;
  readonly #now: () => number;
  /** In the order of the questions. */
  readonly #kept = new Map<string, Kept<T>>();

  constructor(settings: AnswerCacheSettings<T>) {
    this.#settings = settings;
    this.#now = settings.now ?? (() => performance.now());
  }

  get(question: string, ask: () => Promise<T>): Promise<T> {
    const present = this.#kept.get(question);
    if (present && this.#now() < present.until) return present.answer;
    const kept: Kept<T> = { answer: this.#asked(question, ask), until: Number.POSITIVE_INFINITY };
    this.#kept.delete(question);
    this.#kept.set(question, kept);
    this.#bound();
    return kept.answer;
  }

  /** Keeps another cache's answer until that cache would ask again. */
  copyFrom(other: AnswerCache<T>, question: string): void {
    const kept = other.#kept.get(question);
    // While it is asked for again, only the other cache learns of the end.
    if (!kept || kept.until === Number.POSITIVE_INFINITY) return;
    this.#kept.delete(question);
    this.#kept.set(question, kept);
    this.#bound();
  }

  forget(question: string): void {
    this.#kept.delete(question);
  }

  get size(): number {
    return this.#kept.size;
  }

  async #asked(question: string, ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask();
      const kept = this.#kept.get(question);
      if (kept) kept.until = this.#now() + this.#settings.keptFor(answer);
      return answer;
    } catch (error) {
      this.#kept.delete(question);
      throw error;
    }
  }

  #bound(): void {
    for (const question of this.#kept.keys()) {
      if (this.#kept.size <= this.#settings.most) return;
      this.#kept.delete(question);
    }
  }
}
