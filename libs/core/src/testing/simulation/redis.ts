import type { FoundBy } from '../../state/outbox.ts';
import { isSameScheme } from '../../record/record-hash.ts';
import { isNewer } from '../../rv.ts';
import type { SourceRow, WorkloadRow } from '../../state/rows.ts';

/** A job as BullMQ keeps it, with `deduplication: { keepLastIfActive: true }`. */
export interface Job {
  readonly state: 'waiting' | 'active' | 'backoff';
  /** Another one was asked for while it was active. */
  readonly again: boolean;
  readonly token: number;
  /** Not before, Unix milliseconds: the end of a pause, or of the wait for another worker. */
  readonly at?: number | undefined;
}

/** What a change job read, for the reload jobs that it enqueues. */
export interface Reading {
  readonly rv: string;
  readonly hash: string;
}

/** What the next change of a source is told from, while one is still to be told. */
export interface Untold {
  readonly hash: string;
}

type Value = SourceRow | WorkloadRow | Job | Reading | Writer | Untold;
interface Writer {
  readonly term: number;
  readonly sequence: number;
}

/** Redis with a journal of writes, so that it can be emptied or set back in time. */
export class SimulatedRedis {
  readonly #data = new Map<string, Value>();
  #journal: [string, Value | undefined][][] = [];
  #group: [string, Value | undefined][] | null = null;

  get<T extends Value>(key: string): T | undefined {
    return this.#data.get(key) as T | undefined;
  }

  set(key: string, value: Value | undefined): void {
    const entry: [string, Value | undefined] = [key, this.#data.get(key)];
    if (this.#group) this.#group.push(entry);
    else this.#journal.push([entry]);
    if (value === undefined) this.#data.delete(key);
    else this.#data.set(key, value);
  }

  keys(prefix: string): string[] {
    return [...this.#data.keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  atomically<T>(work: () => T): T {
    this.#group = [];
    const result = work();
    if (this.#group.length > 0) this.#journal.push(this.#group);
    this.#group = null;
    this.#journal = this.#journal.slice(-400);
    return result;
  }

  /** The last `count` writes were never on disk. */
  lose(count: number): void {
    for (let n = 0; n < count; n += 1) {
      for (const [key, old] of this.#journal.pop()?.toReversed() ?? []) {
        if (old === undefined) this.#data.delete(key);
        else this.#data.set(key, old);
      }
    }
  }

  flush(): void {
    this.#data.clear();
    this.#journal = [];
  }

  enqueue(key: string): void {
    const job = this.get<Job>(key);
    if (!job || job.state === 'backoff') this.set(key, { state: 'waiting', again: false, token: 0 });
    else if (job.state === 'active' && !job.again) this.set(key, { ...job, again: true });
  }

  /** With `replace`: a later call has the later time. */
  enqueueAt(key: string, at: number): void {
    const job = this.get<Job>(key);
    if (job?.state === 'active') this.set(key, { ...job, again: true, at });
    else this.set(key, { state: 'waiting', again: false, token: 0, at });
  }

  /** `at`: not before then. */
  acknowledge(key: string, token: number, again: boolean | { at: number } = false): void {
    const job = this.get<Job>(key);
    if (job?.state !== 'active' || job.token !== token) return;
    const at = typeof again === 'object' ? again.at : job.at;
    this.set(
      key,
      job.again || again !== false ? { state: 'waiting', again: false, token: 0, at } : undefined,
    );
  }
}

export interface Write {
  readonly term: number;
  /** The number of the write before this one; null: this one begins a chain. */
  readonly previous: number | null;
  readonly sequence: number;
  /** With how the change was found, if a change job comes. */
  readonly sources: readonly (readonly [string, SourceRow | undefined, (FoundBy | undefined)?])[];
  readonly workloads: readonly (readonly [string, WorkloadRow | undefined])[];
}

/** What the catalog's script answers: `refused` under a newer term; `gap` if another write went missing. */
export type WriteResult = { refused: true } | { refused: false; gap: boolean; changed: string[] };

/** The catalog's write script, as `catalog/` has it in Lua. */
export function writeCatalog(redis: SimulatedRedis, write: Write): WriteResult {
  const writer = redis.get<Writer>('writer');
  const { term, sequence, previous } = write;
  const isOwn = writer?.term === term;
  if (writer && writer.term > term) return { refused: true };
  if (isOwn && writer.sequence > sequence) return { refused: false, gap: true, changed: [] };
  if (isOwn && writer.sequence === sequence) {
    const told = write.sources.filter(([key, row]) => row && redis.get(`B/${key}`)).map(([key]) => key);
    return { refused: false, gap: false, changed: told };
  }
  if (previous !== null && !(isOwn && writer.sequence === previous))
    return { refused: false, gap: true, changed: [] };
  return redis.atomically(() => {
    const changed = write.sources.filter((source) => writeSource(redis, source)).map(([key]) => key);
    for (const [key, row] of write.workloads) redis.set(`W/${key}`, row);
    redis.set('writer', { term, sequence });
    return { refused: false, gap: false, changed };
  });
}

/** Whether it is of other data than the row that was there, or of a source that is there again. */
function writeSource(redis: SimulatedRedis, [key, row, foundBy]: Write['sources'][number]): boolean {
  const old = redis.get<SourceRow>(`S/${key}`);
  const untold = `B/${key}`;
  const keep = (hash: string): void => {
    if (!redis.get(untold)) redis.set(untold, { hash });
  };
  if (!row) {
    redis.set(`S/${key}`, undefined);
    redis.set(untold, undefined);
    return false;
  }
  if (!old) {
    if (foundBy === 'event') keep('');
    redis.set(`S/${key}`, row);
    return false;
  }
  const sameScheme = isSameScheme(row.hash, old.hash);
  if (!isNewer(row.rv, old.rv) && (row.rv !== old.rv || sameScheme)) return false;
  const isOther = old.hash !== row.hash && sameScheme;
  const isChanged = row.exists && (isOther || !old.exists);
  if ((isChanged || foundBy) && (isOther || old.exists !== row.exists)) keep(old.exists ? old.hash : '');
  redis.set(`S/${key}`, row);
  return isChanged;
}

/** The script by which a worker tells of a change. `hash`: '' if the source does not exist. */
export function tellChange(redis: SimulatedRedis, key: string, hash: string): void {
  redis.atomically(() => {
    const row = redis.get<SourceRow>(`S/${key}`);
    const held = row?.exists ? row.hash : '';
    redis.set(`B/${key}`, held === hash ? undefined : { hash });
  });
}

/** A watcher that saw that etcd was restored: rows and readings are of what is no more. `term`: none before it may write. */
export function resetCatalog(redis: SimulatedRedis, term: number): void {
  redis.atomically(() => {
    for (const key of ['S/', 'W/', 'F/', 'B/'].flatMap((prefix) => redis.keys(prefix)))
      redis.set(key, undefined);
    redis.set('writer', { term, sequence: 0 });
  });
}

/** The term of the last write. */
export function lastTerm(redis: SimulatedRedis): number {
  return redis.get<Writer>('writer')?.term ?? 0;
}

export function isWriter(redis: SimulatedRedis, term: number, sequence: number): boolean {
  const writer = redis.get<Writer>('writer');
  return writer?.term === term && writer.sequence === sequence;
}
