import type { RedisClient } from '@reroll/redis/connection/redis';
import type { LiveJob } from '@reroll/core/history/states';
import type { WorkloadKey } from '@reroll/core/model';
import { timeOfScore } from '@reroll/redis/queue/oldest-due';
import { RELOADS } from '@reroll/redis/queue/queues';

/**
 * Finds the reload jobs of workloads by the deduplication keys of BullMQ 6, in two round trips. Rejects with ioredis'
 * error if Redis cannot be reached.
 */
export class ReloadJobs {
  readonly #redis: RedisClient;
  readonly #queue: string;

  /** `prefix`: that of the install. */
  constructor(redis: RedisClient, prefix: string) {
    this.#redis = redis;
    this.#queue = `${prefix}:${RELOADS}`;
  }

  async of(workloads: readonly WorkloadKey[]): Promise<Map<WorkloadKey, LiveJob>> {
    if (workloads.length === 0) return new Map();
    // The job of a change comes last, because it counts if there are both.
    const sought = workloads.flatMap((workload) => [
      { workload, isHeld: true },
      { workload, isHeld: false },
    ]);
    const ids = await this.#redis.mget(
      ...sought.map(({ workload, isHeld }) => `${this.#queue}:de:${isHeld ? 'held:' : ''}${workload}`),
    );
    const found = sought.flatMap((job, index) => {
      const id = ids[index];
      return id ? [{ ...job, id }] : [];
    });
    if (found.length === 0) return new Map();
    const [active, scores, ...hashes] = await Promise.all([
      this.#redis.lrange(`${this.#queue}:active`, 0, -1),
      this.#redis.zmscore(`${this.#queue}:delayed`, ...found.map(({ id }) => id)),
      ...found.map(({ id }) => this.#redis.hmget(`${this.#queue}:${id}`, 'timestamp', 'atm', 'opts')),
    ]);
    const running = new Set(active);
    return new Map(
      found.flatMap(({ workload, id, isHeld }, index) => {
        const [timestamp, made, opts] = hashes[index] ?? [];
        // Without a hash the job is gone and only its key remains.
        if (timestamp === null || timestamp === undefined) return [];
        const score = scores[index];
        const until = typeof score === 'string' ? timeOfScore(score) : null;
        const state = running.has(id) ? 'active' : until === null ? 'waiting' : 'delayed';
        const job = { id, state, until, made: Number(made ?? 0), most: mostOf(opts), isHeld } as const;
        return [[workload, job] as const];
      }),
    );
  }
}

function mostOf(opts: string | null | undefined): number {
  try {
    const { attempts } = JSON.parse(opts ?? '{}') as { attempts?: unknown };
    return typeof attempts === 'number' ? attempts : 1;
  } catch {
    return 1;
  }
}
