import { isSameScheme } from '../../record/record-hash.ts';
import { isNewer } from '../../rv.ts';
import type { SourceRow, WorkloadRow } from '../../ledger/rows.ts';

/** A job as BullMQ keeps it, with `deduplication: { keepLastIfActive: true }`. */
export interface Job {
  readonly state: 'waiting' | 'active' | 'backoff';
  /** Another one was asked for while it was active. */
  readonly again: boolean;
  readonly token: number;
  /** Not before, Unix milliseconds: the end of a pause, or of the wait for another worker. */
  readonly at?: number | undefined;
}

/** What a change job read, for the reload jobs that it wakes. */
export interface Reading {
  readonly rv: string;
  readonly hash: string;
}

type Value = SourceRow | WorkloadRow | Job | Reading | Writer;
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
  readonly expected: number;
  readonly sources: readonly (readonly [string, SourceRow | undefined])[];
  readonly workloads: readonly (readonly [string, WorkloadRow | undefined])[];
}

/** What the catalog's script answers: `refused` under a newer term; `gap` if another write went missing. */
export type WriteResult = { refused: true } | { refused: false; gap: boolean; changed: string[] };

/** The catalog's write script, as `catalog/` has it in Lua. */
export function writeCatalog(redis: SimulatedRedis, write: Write): WriteResult {
  const writer = redis.get<Writer>('writer') ?? { term: 0, sequence: -1 };
  if (writer.term > write.term) return { refused: true };
  return redis.atomically(() => {
    const gap = writer.term !== write.term || writer.sequence !== write.expected;
    redis.set('writer', { term: write.term, sequence: write.expected + 1 });
    const changed: string[] = [];
    for (const [key, row] of write.sources) {
      const old = redis.get<SourceRow>(`S/${key}`);
      if (!row) {
        redis.set(`S/${key}`, undefined);
        continue;
      }
      const sameScheme = old && isSameScheme(row.hash, old.hash);
      if (old && !isNewer(row.rv, old.rv) && (row.rv !== old.rv || sameScheme)) continue;
      if (old && row.exists && old.hash !== row.hash && sameScheme) changed.push(key);
      redis.set(`S/${key}`, row);
    }
    for (const [key, row] of write.workloads) redis.set(`W/${key}`, row);
    return { refused: false, gap, changed };
  });
}

/** A watcher that saw that etcd was restored: rows and readings are of what is no more. `term`: none before it may write. */
export function resetCatalog(redis: SimulatedRedis, term: number): void {
  redis.atomically(() => {
    for (const key of ['S/', 'W/', 'F/'].flatMap((prefix) => redis.keys(prefix))) redis.set(key, undefined);
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
