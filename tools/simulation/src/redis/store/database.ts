import { RedisError, WRONG_TYPE } from '../replies.ts';
import type { Value } from './values.ts';

/** A state of a database, to set it back to. It does not change any more. */
export type Snapshot = ReadonlyMap<string, Value>;

type Kind<T extends Value> = new () => T;

/** The keys of a Redis. Those that have expired are gone when they are next looked at. */
export class Database {
  #values = new Map<string, Value>();
  /** Unix milliseconds of the command that runs. */
  now = 0;

  /** The value of any type. */
  find(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value && value.expiresAt <= this.now) {
      this.#values.delete(key);
      return undefined;
    }
    return value;
  }

  /** Throws WRONGTYPE. */
  get<T extends Value>(key: string, kind: Kind<T>): T | undefined {
    const value = this.find(key);
    if (value === undefined || value instanceof kind) return value;
    throw new RedisError(WRONG_TYPE);
  }

  /** `get`, or a new empty value. Whoever leaves it empty calls `tidy`. */
  ensure<T extends Value>(key: string, kind: Kind<T>): T {
    const value = this.get(key, kind);
    if (value) return value;
    const made = new kind();
    this.#values.set(key, made);
    return made;
  }

  /** Removes the value if it is empty. */
  tidy(key: string, value: Value): void {
    if (value.size === 0) this.#values.delete(key);
  }

  set(key: string, value: Value): void {
    this.#values.set(key, value);
  }

  delete(key: string): boolean {
    return this.find(key) !== undefined && this.#values.delete(key);
  }

  clear(): void {
    this.#values.clear();
  }

  /** All keys that have not expired. */
  keys(): string[] {
    return [...this.#values.keys()].filter((key) => this.find(key) !== undefined);
  }

  /** Keys and elements. */
  get entries(): number {
    let count = 0;
    for (const key of this.keys()) count += 1 + (this.#values.get(key)?.size ?? 0);
    return count;
  }

  /** The keys that have not expired, with their values. */
  *each(): Iterable<readonly [string, Value]> {
    for (const key of this.keys()) {
      const value = this.#values.get(key);
      if (value) yield [key, value];
    }
  }

  *texts(): Iterable<string> {
    for (const [key, value] of this.#values) {
      yield key;
      yield* value.texts();
    }
  }

  snapshot(): Snapshot {
    return copyOf(this.#values);
  }

  restore(snapshot: Snapshot): void {
    this.#values = copyOf(snapshot);
  }
}

function copyOf(values: Snapshot): Map<string, Value> {
  const copy = new Map<string, Value>();
  for (const [key, value] of values) copy.set(key, value.clone());
  return copy;
}
