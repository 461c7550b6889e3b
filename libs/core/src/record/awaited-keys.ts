import { isKeyKnown, type HashKey, type RecordHash } from './record-hash.ts';

/** How long a change of keys may take until every process has the new key, in milliseconds. */
const AWAITED_FOR = 600_000;

/** How many keys are awaited or known to be lost. Whoever writes a record can name any; beyond that, a key counts as lost at once. */
const MOST_KEYS = 100;

/**
 * Keys that appear in records but that this process does not have. While keys are changed, a process that started earlier meets the
 * new key. It leaves such entries to processes that have the key, or to itself after its restart. After that time the key counts as
 * lost, and nobody can compare the entry any more.
 */
export class AwaitedKeys {
  readonly #keys: readonly Pick<HashKey, 'id'>[];
  /** When each key was first met, by its scheme. */
  readonly #met = new Map<string, number>();

  constructor(keys: readonly Pick<HashKey, 'id'>[]) {
    this.#keys = keys;
  }

  /** Whether to leave the entry to other processes: its key was first met less than ten minutes ago. `now`: Unix ms. */
  isAwaited(recorded: RecordHash, now: number): boolean {
    if (isKeyKnown(recorded, this.#keys)) return false;
    const scheme = recorded.slice(0, recorded.indexOf('.'));
    const since = this.#met.get(scheme);
    if (since === undefined) {
      if (this.#met.size >= MOST_KEYS) return false;
      this.#met.set(scheme, now);
      return true;
    }
    return now - since < AWAITED_FOR;
  }
}
