import { namespaceOf, type Key } from '../model.ts';

/**
 * What waits to be processed, by the key of an object. Namespaces take turns, so that one cannot delay the others, and so do the
 * objects of each.
 */
export class NamespaceTurns<ObjectKey extends Key<string>, Value> {
  readonly #namespaces = new Queue<string, Queue<ObjectKey, Value>>();
  #size = 0;

  get isEmpty(): boolean {
    return this.#namespaces.size === 0;
  }

  /** The number of objects. */
  get size(): number {
    return this.#size;
  }

  get(key: ObjectKey): Value | undefined {
    return this.#namespaces.get(namespaceOf(key))?.get(key);
  }

  /** Puts an object at the end of its namespace's queue. One that waits keeps its place, with this value. */
  put(key: ObjectKey, value: Value): void {
    const namespace = namespaceOf(key);
    const queue = this.#namespaces.get(namespace) ?? new Queue<ObjectKey, Value>();
    if (queue.put(key, value)) this.#size += 1;
    this.#namespaces.put(namespace, queue);
  }

  drop(key: ObjectKey): void {
    const namespace = namespaceOf(key);
    const queue = this.#namespaces.get(namespace);
    if (queue?.drop(key)) this.#size -= 1;
    if (queue?.size === 0) this.#namespaces.drop(namespace);
  }

  /** Takes out the next object, of another namespace each time. */
  take(): readonly [ObjectKey, Value] | undefined {
    const next = this.#namespaces.take();
    if (!next) return undefined;
    const [namespace, queue] = next;
    const taken = queue.take();
    this.#size -= 1;
    if (queue.size > 0) this.#namespaces.put(namespace, queue);
    return taken;
  }

  /** Drops the first object of the namespace with the most, so that one namespace cannot displace what others have. */
  dropFromLargest(): void {
    let largest: readonly [string, Queue<ObjectKey, Value>] | undefined;
    for (const each of this.#namespaces.entries())
      if (!largest || each[1].size > largest[1].size) largest = each;
    if (!largest) return;
    const [namespace, queue] = largest;
    queue.take();
    this.#size -= 1;
    if (queue.size === 0) this.#namespaces.drop(namespace);
  }

  /** The objects of a namespace, in order. */
  *of(namespace: string): Generator<Value, void, void> {
    for (const [, value] of this.#namespaces.get(namespace)?.entries() ?? []) yield value;
  }

  *values(): Generator<Value, void, void> {
    for (const [namespace] of this.#namespaces.entries()) yield* this.of(namespace);
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

  entries(): Iterable<readonly [Key, Value]> {
    return this.#entries;
  }

  /** Returns whether the key is new. */
  put(key: Key, value: Value): boolean {
    const before = this.#entries.size;
    return this.#entries.set(key, value).size > before;
  }

  /** Returns whether the key was there. */
  drop(key: Key): boolean {
    return this.#entries.delete(key);
  }

  take(): readonly [Key, Value] | undefined {
    // An iterator that has once ended does not go on.
    if (this.#entries.size === 0) return undefined;
    const { value: entry } = this.#next.next();
    if (entry) this.#entries.delete(entry[0]);
    return entry;
  }
}
