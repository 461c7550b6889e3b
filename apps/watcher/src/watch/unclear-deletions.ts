import type { SourceKey } from '@reroll/core/model';
import type { Rv } from '@reroll/core/rv';
import { NamespaceTurns } from '@reroll/core/state/namespace-turns';

/** Requests of one stream at a time. */
export const ASKED_AT_ONCE = 8;

/** A deletion as a watch with a label selector reports it: the source may only have lost its labels. */
export interface UnclearDeletion {
  readonly rv: Rv;
  readonly uid: string | undefined;
}

export interface UnclearDeletionsContext {
  /** Whether the source is still there. Never rejects. */
  readonly isThere: (key: SourceKey, uid: string | undefined) => Promise<boolean>;
  /** Called for each source that is not. Must not throw. */
  readonly deleted: (key: SourceKey, deletion: UnclearDeletion) => void;
  /** Called for each source that is still there. Must not throw. */
  readonly unwatched: (key: SourceKey, deletion: UnclearDeletion) => void;
}

/**
 * Asks beside the stream which sources were deleted, so that many deletions in one namespace do not delay the events of others.
 * Namespaces take turns. What a stop leaves unanswered, the next watcher finds by its list: the catalog still has the source.
 */
export class UnclearDeletions {
  readonly #context: UnclearDeletionsContext;
  readonly #waiting = new NamespaceTurns<SourceKey, UnclearDeletion>();
  readonly #asked = new Map<SourceKey, UnclearDeletion>();
  #requests = 0;

  constructor(context: UnclearDeletionsContext) {
    this.#context = context;
  }

  has(key: SourceKey): boolean {
    return this.#waiting.get(key) !== undefined || this.#asked.has(key);
  }

  add(key: SourceKey, deletion: UnclearDeletion): void {
    this.#waiting.put(key, deletion);
    this.#askSome();
  }

  /** Returns the unanswered deletion of a source that the stream has shown again, and ignores the answer. */
  take(key: SourceKey): UnclearDeletion | undefined {
    const deletion = this.#waiting.get(key) ?? this.#asked.get(key);
    this.#waiting.drop(key);
    this.#asked.delete(key);
    return deletion;
  }

  #askSome(): void {
    while (this.#requests < ASKED_AT_ONCE) {
      const next = this.#waiting.take();
      if (!next) return;
      this.#requests += 1;
      void this.#ask(...next);
    }
  }

  async #ask(key: SourceKey, deletion: UnclearDeletion): Promise<void> {
    this.#asked.set(key, deletion);
    const isThere = await this.#context.isThere(key, deletion.uid);
    this.#requests -= 1;
    if (this.#asked.get(key) === deletion) {
      this.#asked.delete(key);
      const { deleted, unwatched } = this.#context;
      (isThere ? unwatched : deleted)(key, deletion);
    }
    this.#askSome();
  }
}
