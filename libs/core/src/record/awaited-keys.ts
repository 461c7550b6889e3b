import { isKeyKnown, type HashKey, type RecordHash } from './record-hash.ts';

/** So long, in milliseconds, a change of keys may take from the first process to the last. */
const AWAITED_FOR = 600_000;

/**
 * Keys that a process does not have and meets in records. While keys are changed, one that began before the
 * others meets theirs: what they recorded is not for it to judge, and whoever has the key will, or it itself after
 * its own restart. If that takes too long, the key is lost, and nobody can tell any more.
 */
export class AwaitedKeys {
  readonly #keys: readonly Pick<HashKey, 'id'>[];
  /** When a key was first met, by the scheme that names it: as many as there ever were keys. */
  readonly #met = new Map<string, number>();

  constructor(keys: readonly Pick<HashKey, 'id'>[]) {
    this.#keys = keys;
  }

  /** Whether the entry is to be left to others: it is under a key first met less than ten minutes ago. `now`: Unix ms. */
  isAwaited(recorded: RecordHash, now: number): boolean {
    if (isKeyKnown(recorded, this.#keys)) return false;
    const scheme = recorded.slice(0, recorded.indexOf('.'));
    const since = this.#met.get(scheme) ?? now;
    this.#met.set(scheme, since);
    return now - since < AWAITED_FOR;
  }
}
