import type { RedisClient } from './redis.ts';
import type { SourceKey, WorkloadKey } from '../core/model.ts';
import type { Reason } from '../core/reasons.ts';
import type { CatalogKeys } from './keys.ts';

/** What the rules said of a workload that uses, names or mentions a source. */
export interface RulingEntry {
  readonly workload: WorkloadKey;
  readonly reason: Reason;
  readonly detail: string;
}

/** A change as a worker took it up. Names, codes and hashes; never data. */
export interface ChangeEntry {
  readonly source: SourceKey;
  /** Unix milliseconds when the watcher saw it, and when the worker did. */
  readonly since: number;
  readonly at: number;
  /** The record hash; null if the source was gone by then. */
  readonly hash: string | null;
  /** Workloads that were woken, and why. */
  readonly woken: readonly RulingEntry[];
  /** Workloads that were left alone, and why. */
  readonly leftAlone: readonly RulingEntry[];
}

export type OutcomeState = 'reloaded' | 'recorded' | 'unchanged' | 'wouldReload' | 'retrying' | 'failed';

/** What came of one attempt of a reload job. */
export interface OutcomeEntry {
  readonly workload: WorkloadKey;
  readonly state: OutcomeState;
  readonly reason: Reason;
  /** What was found for each source that matters, e.g. `{ 'ConfigMap/web': 'Roll' }`. */
  readonly sources: Readonly<Record<string, string>>;
  /** Sources (`<kind>/<name>`) for which the pods are replaced. */
  readonly rolled: readonly string[];
  readonly since: number;
  readonly at: number;
  readonly attempt: number;
  /** Code of what went wrong, e.g. `KUBE_API 422 Invalid`; no text of the API server. */
  readonly error?: string | undefined;
  readonly detail?: string | undefined;
}

export interface HistoryLimits {
  readonly maxEntries: number;
  /** Milliseconds. */
  readonly maxAge: number;
}

/**
 * The history, two Redis streams, bounded by count as they are written (a hundred more may be there) and by
 * age when trimmed.
 */
export class History {
  readonly #redis: RedisClient;
  readonly #keys: CatalogKeys;
  readonly #limits: HistoryLimits;

  constructor(redis: RedisClient, keys: CatalogKeys, limits: HistoryLimits) {
    this.#redis = redis;
    this.#keys = keys;
    this.#limits = limits;
  }

  async addChange(entry: ChangeEntry): Promise<void> {
    await this.#add(this.#keys.changes, entry);
  }

  async addOutcome(entry: OutcomeEntry): Promise<void> {
    await this.#add(this.#keys.outcomes, entry);
  }

  /** The latest entries, newest first. */
  changes(count: number): Promise<ChangeEntry[]> {
    return this.#latest<ChangeEntry>(this.#keys.changes, count);
  }

  outcomes(count: number): Promise<OutcomeEntry[]> {
    return this.#latest<OutcomeEntry>(this.#keys.outcomes, count);
  }

  /** Drops what is too old. `now` in Unix milliseconds. */
  async trim(now: number): Promise<void> {
    const oldest = String(Math.max(0, now - this.#limits.maxAge));
    // Exactly: with `~` an entry stays until the hundred that Redis keeps in one node are all too old.
    await this.#redis.xtrim(this.#keys.changes, 'MINID', oldest);
    await this.#redis.xtrim(this.#keys.outcomes, 'MINID', oldest);
  }

  async #add(stream: string, entry: ChangeEntry | OutcomeEntry): Promise<void> {
    await this.#redis.xadd(
      stream,
      'MAXLEN',
      '~',
      this.#limits.maxEntries,
      '*',
      'entry',
      JSON.stringify(entry),
    );
  }

  async #latest<Entry>(stream: string, count: number): Promise<Entry[]> {
    const rows = await this.#redis.xrevrange(stream, '+', '-', 'COUNT', count);
    return rows.flatMap(([, fields]) => (fields[1] === undefined ? [] : [JSON.parse(fields[1]) as Entry]));
  }
}
