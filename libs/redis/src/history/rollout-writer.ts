import type { HistoryLimits } from '@reroll/core/history/entry-bounds';
import { namespaceOf, type WorkloadKey } from '@reroll/core/model';
import type { Completion } from '@reroll/core/rollouts/completions';
import type { RolloutChanges } from '@reroll/core/rollouts/rollout-tracker';
import { bytesOfStream, streamKeys } from './history.ts';
import type { CatalogKeys } from '../catalog/keys.ts';
import type { RedisClient } from '../connection/redis.ts';
import { Rollouts, SINCE, type RolloutsWritten } from './rollouts.ts';
import { WRITE_ROLLOUTS } from './rollouts.lua.ts';

export interface RolloutsToWrite extends RolloutChanges {
  /** Rollouts that are complete, and when that was seen. */
  readonly completed?: readonly (readonly [WorkloadKey, Completion])[];
  /** See `SINCE`; undefined: it stays. */
  readonly since?: number | undefined;
}

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

  /** Returns what an earlier leader left. */
  async written(): Promise<RolloutsWritten> {
    return await new Rollouts(this.#redis, this.#keys.rollouts).written();
  }

  /** Writes in one call. Returns false, and writes nothing, if a newer leader has written. */
  async write(
    term: string,
    { put, completed = [], removed, ended, since }: RolloutsToWrite,
  ): Promise<boolean> {
    const fields = [
      ...(since === undefined ? [] : [[SINCE, since] as const]),
      ...put.map((entry) => [entry.workload, entry] as const),
      ...completed,
    ];
    const { writer, rollouts } = this.#keys;
    const reply = await WRITE_ROLLOUTS.run(
      this.#redis,
      [writer, rollouts, ...streamKeys(this.#keys, 'rollouts')],
      [
        term,
        this.#bounds,
        fields.length,
        ...fields.flatMap(([field, value]) => [field, JSON.stringify(value)]),
        removed.length,
        ...removed,
        ...(this.#isFull()
          ? []
          : ended.flatMap((entry) => [namespaceOf(entry.workload), JSON.stringify(entry)])),
      ],
    );
    return Number(reply) === 1;
  }
}
