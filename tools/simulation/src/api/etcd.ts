import type { Owner } from '../scheduler.ts';
import { Version, type ApiObject } from './api-object.ts';
import type { ResourceType } from './resource-types.ts';

/** Who made a write. */
export interface Author {
  /** The simulated process; undefined for the world. */
  readonly owner: Owner | undefined;
  /** The field manager. */
  readonly manager: string;
}

/** A committed write. */
export interface Change {
  readonly revision: number;
  /** Virtual Unix milliseconds. */
  readonly at: number;
  readonly type: ResourceType;
  /** `<namespace>/<name>`, or the name alone. */
  readonly key: string;
  readonly author: Author;
  /** undefined: the object was created. */
  readonly before: Version | undefined;
  /** undefined: the object was deleted. */
  readonly after: Version | undefined;
  /** What events show: `after`, or the last version with the revision of the deletion. */
  readonly shown: Version;
}

/** Everything that etcd holds at one moment. */
export interface Backup {
  readonly revision: number;
  readonly compacted: number;
  readonly data: ReadonlyMap<ResourceType, ReadonlyMap<string, Version>>;
  readonly log: readonly Change[];
}

/** The write of one object: what it is to be at that revision, or undefined to delete it. */
export interface Put {
  readonly type: ResourceType;
  readonly key: string;
  readonly author: Author;
  readonly object: ApiObject | undefined;
}

/** Later entries of the log go back to this revision. */
const FIRST_REVISION = 100;

class Collection {
  readonly objects: Map<string, Version>;
  #sorted: readonly string[] | undefined;

  constructor(objects: ReadonlyMap<string, Version> = new Map()) {
    this.objects = new Map(objects);
  }

  set(key: string, version: Version | undefined): void {
    const isThere = this.objects.has(key);
    if (version === undefined) this.objects.delete(key);
    else this.objects.set(key, version);
    if (isThere !== (version !== undefined)) this.#sorted = undefined;
  }

  /** In the order of their keys. */
  inOrder(): Version[] {
    this.#sorted ??= [...this.objects.keys()].sort();
    return this.#sorted.flatMap((key) => this.objects.get(key) ?? []);
  }
}

/** The store behind all API servers: the objects, one counter of revisions, and the log of all writes since the last compaction. */
export class Etcd {
  readonly #now: () => number;
  readonly #collections = new Map<ResourceType, Collection>();
  readonly #listeners: ((change: Change) => void)[] = [];
  #log: Change[] = [];
  #revision = FIRST_REVISION;
  #compacted = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** States before this revision are no more. */
  get compacted(): number {
    return this.#compacted;
  }

  /** Calls the listener at once after each write, in the order in which listeners were added. */
  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  get(type: ResourceType, key: string): Version | undefined {
    return this.#collections.get(type)?.objects.get(key);
  }

  /** All objects of a type in the order of their keys. */
  list(type: ResourceType): Version[] {
    return this.#collection(type).inOrder();
  }

  /** All objects of a type as they were at a revision that is not compacted, in the order of their keys. */
  listAt(type: ResourceType, revision: number): Version[] {
    const past = new Collection(this.#collection(type).objects);
    for (let index = this.#log.length - 1; index >= 0; index -= 1) {
      const change = this.#log[index];
      if (change === undefined || change.revision <= revision) break;
      if (change.type === type) past.set(change.key, change.before);
    }
    return past.inOrder();
  }

  /** Writes or deletes the object, with its new resourceVersion. */
  put({ type, key, author, object }: Put): Change {
    const before = this.get(type, key);
    const revision = (this.#revision += 1);
    const after = object && new Version(type, withRevision(object, revision), revision);
    const shown = after ?? before?.deletedAt(revision);
    if (shown === undefined) throw new RangeError('expected an object to delete');
    const change: Change = { revision, at: this.#now(), type, key, author, before, after, shown };
    this.#collection(type).set(key, after);
    this.#log.push(change);
    for (const listener of this.#listeners) listener(change);
    return change;
  }

  /** Forgets all states before the revision. */
  compact(revision: number): void {
    this.#compacted = Math.max(this.#compacted, Math.min(revision, this.#revision));
    const kept = this.#log.findIndex((change) => change.revision > this.#compacted);
    this.#log = kept === -1 ? [] : this.#log.slice(kept);
  }

  backUp(): Backup {
    const data = new Map([...this.#collections].map(([type, { objects }]) => [type, new Map(objects)]));
    return { revision: this.#revision, compacted: this.#compacted, data, log: [...this.#log] };
  }

  /** Sets everything back. With `bump`, revisions continue that much higher, and the history is compacted. */
  restore(backup: Backup, bump: number): void {
    this.#collections.clear();
    for (const [type, objects] of backup.data) this.#collections.set(type, new Collection(objects));
    this.#revision = backup.revision + bump;
    this.#compacted = bump > 0 ? this.#revision : backup.compacted;
    this.#log = bump > 0 ? [] : [...backup.log];
  }

  #collection(type: ResourceType): Collection {
    let collection = this.#collections.get(type);
    if (collection === undefined) this.#collections.set(type, (collection = new Collection()));
    return collection;
  }
}

function withRevision(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
