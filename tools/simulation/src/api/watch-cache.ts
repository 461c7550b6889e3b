import type { Version } from './api-object.ts';
import type { Change } from './etcd.ts';
import type { ResourceType } from './resource-types.ts';

/** Sees each change as the cache gets it. */
export type CacheListener = (change: Change) => void;

interface Waiter {
  readonly revision: number;
  readonly run: () => void;
}

interface Queued {
  readonly change: Change;
  /** Virtual milliseconds at which the cache gets it. */
  readonly at: number;
}

/** What one API server knows of one collection: a state of etcd that may be older, and the changes that led to it. */
export class WatchCache {
  readonly type: ResourceType;
  readonly listeners = new Set<CacheListener>();
  /** Changes on their way, in order. */
  readonly queue: Queued[] = [];
  readonly #objects: Map<string, Version>;
  #history: Change[] = [];
  #waiters: Waiter[] = [];
  /** Changes up to this revision are not kept. */
  #oldest: number;
  #position: number;
  #sorted: readonly Version[] | undefined;

  constructor(type: ResourceType, objects: readonly Version[], revision: number) {
    this.type = type;
    this.#objects = new Map(objects.map((object) => [object.key, object]));
    this.#oldest = revision;
    this.#position = revision;
  }

  /** The revision whose state this is. */
  get position(): number {
    return this.#position;
  }

  get(key: string): Version | undefined {
    return this.#objects.get(key);
  }

  /** In the order of their keys. */
  list(): readonly Version[] {
    this.#sorted ??= [...this.#objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, version]) => version);
    return this.#sorted;
  }

  /** The changes after the revision; undefined if they are not all kept. */
  since(revision: number): readonly Change[] | undefined {
    if (revision < this.#oldest) return undefined;
    return this.#history.filter((change) => change.revision > revision);
  }

  apply(change: Change): void {
    if (change.after === undefined) this.#objects.delete(change.key);
    else this.#objects.set(change.key, change.after);
    this.#sorted = undefined;
    this.#history.push(change);
    this.#position = change.revision;
    for (const listener of this.listeners) listener(change);
  }

  /** Nothing of this collection changed up to the revision. */
  moveTo(revision: number): void {
    this.#position = Math.max(this.#position, revision);
    if (this.#waiters.length === 0) return;
    const ready = this.#waiters.filter((waiter) => waiter.revision <= this.#position);
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > this.#position);
    for (const waiter of ready) waiter.run();
  }

  /** Runs the action once the position has reached the revision, maybe at once. Returns what cancels it. */
  whenAt(revision: number, run: () => void): () => void {
    if (revision <= this.#position) {
      run();
      return () => undefined;
    }
    const waiter = { revision, run };
    this.#waiters.push(waiter);
    return () => {
      this.#waiters = this.#waiters.filter((each) => each !== waiter);
    };
  }

  /** Drops the history: watches from earlier than now get a 410. */
  forgetHistory(): void {
    this.#history = [];
    this.#oldest = this.#position;
  }
}
