import { namespaceOf, type SourceKey, type WorkloadKey } from '../model.ts';

/**
 * What waits to be processed, by the key of an object. Namespaces take turns, so that one cannot delay the others, and so do the
 * objects of each.
 */
export class NamespaceTurns<Key extends SourceKey | WorkloadKey, Value> {
  readonly #namespaces = new Queue<string, Queue<Key, Value>>();

  get isEmpty(): boolean {
    return this.#namespaces.size === 0;
  }

  get(key: Key): Value | undefined {
    return this.#namespaces.get(namespaceOf(key))?.get(key);
  }

  /** Puts an object at the end of its namespace's queue. One that waits keeps its place, with this value. */
  put(key: Key, value: Value): void {
    const namespace = namespaceOf(key);
    const queue = this.#namespaces.get(namespace) ?? new Queue<Key, Value>();
    queue.put(key, value);
    this.#namespaces.put(namespace, queue);
  }

  drop(key: Key): void {
    const namespace = namespaceOf(key);
    const queue = this.#namespaces.get(namespace);
    queue?.drop(key);
    if (queue?.size === 0) this.#namespaces.drop(namespace);
  }

  /** Takes out the next object, of another namespace each time. */
  take(): readonly [Key, Value] | undefined {
    const next = this.#namespaces.take();
    if (!next) return undefined;
    const [namespace, queue] = next;
    const taken = queue.take();
    if (queue.size > 0) this.#namespaces.put(namespace, queue);
    return taken;
  }
}

/** First in, first out, with a key for each entry. */
class Queue<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  /** The entries before it were taken. A new iterator would pass over the places of all these. */
  readonly #next = this.#entries.entries();

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  put(key: Key, value: Value): void {
    this.#entries.set(key, value);
  }

  drop(key: Key): void {
    this.#entries.delete(key);
  }

  take(): readonly [Key, Value] | undefined {
    // An iterator that has once ended does not go on.
    if (this.#entries.size === 0) return undefined;
    const { value: entry } = this.#next.next();
    if (entry) this.#entries.delete(entry[0]);
    return entry;
  }
}
