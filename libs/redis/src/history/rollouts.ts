import { jsonFields } from '@reroll/core/json';
import type { RolloutEntry } from '@reroll/core/history/entries';
import type { Completion } from '@reroll/core/rollouts/completions';
import { isWorkloadKey, type WorkloadKey } from '@reroll/core/model';
import type { RedisClient } from '../connection/redis.ts';

/** The field with the time (Unix milliseconds) since which the leader knows when rollouts were complete. */
export const SINCE = 'since';

/** What is known of the rollouts of some workloads, read at one moment. */
export interface RolloutsKnown {
  /** See `SINCE`; undefined: no leader has written it. */
  readonly since: number | undefined;
  /** A workload that is not in it has had no rollout since. */
  readonly of: ReadonlyMap<WorkloadKey, RolloutEntry | Completion>;
}

export interface RolloutsWritten {
  readonly underWay: Map<WorkloadKey, RolloutEntry>;
  /** The workloads of which it is written when their rollouts were complete. */
  readonly completed: readonly WorkloadKey[];
}

/** Rollouts that are not complete: `progressing` or `stuck`. Other workloads have no rollout under way. */
export class Rollouts {
  readonly #redis: RedisClient;
  readonly #key: string;

  /** `key`: `CatalogKeys.rollouts`. */
  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  async of(workloads: readonly WorkloadKey[]): Promise<Map<WorkloadKey, RolloutEntry>> {
    if (workloads.length === 0) return new Map();
    const texts = await this.#redis.hmget(this.#key, ...workloads);
    return entries(workloads.map((workload, index) => [workload, texts[index] ?? null]));
  }

  async known(workloads: readonly WorkloadKey[]): Promise<RolloutsKnown> {
    const [since, ...texts] = await this.#redis.hmget(this.#key, SINCE, ...workloads);
    const known = workloads.flatMap((workload, index) => {
      const text = texts[index] ?? null;
      const entry = text === null ? undefined : (decode(text) ?? decodeCompletion(text));
      return entry ? [[workload, entry] as const] : [];
    });
    return { since: isTime(since) ? Number(since) : undefined, of: new Map(known) };
  }

  async all(): Promise<Map<WorkloadKey, RolloutEntry>> {
    return (await this.written()).underWay;
  }

  /** All that is written, in one read. */
  async written(): Promise<RolloutsWritten> {
    const texts = Object.entries(await this.#redis.hgetall(this.#key));
    const completed = texts.flatMap(([workload, text]) =>
      isWorkloadKey(workload) && decodeCompletion(text) ? [workload] : [],
    );
    return { underWay: entries(texts), completed };
  }
}

/** Leaves out texts that are not rollouts. */
function entries(texts: readonly (readonly [string, string | null])[]): Map<WorkloadKey, RolloutEntry> {
  const found = new Map<WorkloadKey, RolloutEntry>();
  for (const [workload, text] of texts) {
    if (text === null || !isWorkloadKey(workload)) continue;
    const entry = decode(text);
    if (entry) found.set(workload, { ...entry, workload });
  }
  return found;
}

function decode(text: string): RolloutEntry | undefined {
  const entry = jsonFields(text);
  const { state, generation, since, conditions } = entry;
  const isUnderWay = state === 'progressing' || state === 'stuck';
  const isRollout = isUnderWay && typeof generation === 'number' && typeof since === 'number';
  return isRollout && Array.isArray(conditions) ? (entry as unknown as RolloutEntry) : undefined;
}

function decodeCompletion(text: string): Completion | undefined {
  const { completeAt, unavailableSince } = jsonFields(text);
  if (typeof completeAt !== 'number') return undefined;
  return typeof unavailableSince === 'number' ? { completeAt, unavailableSince } : { completeAt };
}

function isTime(text: string | null | undefined): boolean {
  return /^\d{1,15}$/u.test(text ?? '');
}
