import type { HistoryLimits } from '@reroll/core/history/entry-bounds';
import type { RolloutEntry } from '@reroll/core/history/entries';
import type { WorkloadKey } from '@reroll/core/model';
import type { RolloutChanges } from '@reroll/core/rollouts/rollout-tracker';
import { bytesOfStream } from './history.ts';
import type { CatalogKeys } from '../catalog/keys.ts';
import type { RedisClient } from '../connection/redis.ts';
import { Rollouts } from './rollouts.ts';
import { WRITE_ROLLOUTS } from './rollouts.lua.ts';

/** Writes the leader's view of rollouts. Rejects with ioredis' error. */
export class RolloutWriter {
  readonly #redis: RedisClient;
  readonly #keys: CatalogKeys;
  readonly #bounds: string;

  readonly #isFull: () => boolean;

  /** `isFull`: whether Redis has no room for a history now. Default: it has room. */
  constructor(
    redis: RedisClient,
    keys: CatalogKeys,
    { isFull = () => false, ...limits }: HistoryLimits & { isFull?: () => boolean },
  ) {
    this.#redis = redis;
    this.#keys = keys;
    this.#isFull = isFull;
    this.#bounds = `${limits.maxEntries}:${bytesOfStream('rollouts', limits.maxBytes)}`;
  }

  /** Returns the rollouts that an earlier leader left under way. */
  async underWay(): Promise<Map<WorkloadKey, RolloutEntry>> {
    return await new Rollouts(this.#redis, this.#keys.rollouts).all();
  }

  /** Writes in one call. Returns false, and writes nothing, if a newer leader has written. */
  async write(term: string, { put, removed, ended }: RolloutChanges): Promise<boolean> {
    const { writer, rollouts, rolloutHistory } = this.#keys;
    const reply = await this.#redis.eval(
      WRITE_ROLLOUTS,
      3,
      writer,
      rollouts,
      rolloutHistory,
      term,
      this.#bounds,
      put.length,
      ...put.flatMap((entry) => [entry.workload, JSON.stringify(entry)]),
      removed.length,
      ...removed,
      ...(this.#isFull() ? [] : ended.map((entry) => JSON.stringify(entry))),
    );
    return Number(reply) === 1;
  }
}
