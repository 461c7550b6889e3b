import type { RedisClient } from '../connection/redis.ts';

/** Limits set at run time, for all workers. An absent limit is that of the flag. */
export interface Limits {
  /** Jobs of a queue that one worker handles at the same time, 1 to 1000. */
  readonly concurrency?: number;
  /** Reloads per minute of all workers together, 0 (no limit) to 100000. */
  readonly reloadsPerMinute?: number;
}

export const LIMIT_RANGES: Readonly<Record<keyof Limits, readonly [least: number, most: number]>> = {
  concurrency: [1, 1000],
  reloadsPerMinute: [0, 100_000],
};

const NAMES = ['concurrency', 'reloadsPerMinute'] as const;

export class RuntimeLimits {
  readonly #redis: RedisClient;
  readonly #key: string;

  /** `key`: `CatalogKeys.limits`. */
  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  /** Anything but a number within its range counts as absent. */
  async get(): Promise<Limits> {
    const texts = await this.#redis.hmget(this.#key, ...NAMES);
    return Object.fromEntries(
      NAMES.flatMap((name, index) => {
        const text = texts[index] ?? '';
        const value = /^[0-9]+$/u.test(text) ? Number(text) : Number.NaN;
        return isWithin(name, value) ? [[name, value]] : [];
      }),
    );
  }

  /** Sets the given limits, and no other; null removes one, so that the flag applies again. Throws a `RangeError`. */
  async set(limits: { readonly [Name in keyof Limits]?: number | null | undefined }): Promise<void> {
    const given = (Object.entries(limits) as [keyof Limits, number | null | undefined][]).filter(
      (each): each is [keyof Limits, number | null] => each[1] !== undefined,
    );
    for (const [name, value] of given) if (value !== null) assertWithin(name, value);
    const set = given.filter(([, value]) => value !== null);
    const gone = given.filter(([, value]) => value === null).map(([name]) => name);
    if (set.length > 0) await this.#redis.hset(this.#key, Object.fromEntries(set));
    if (gone.length > 0) await this.#redis.hdel(this.#key, ...gone);
  }
}

function isWithin(name: keyof Limits, value: number): boolean {
  const [least, most] = LIMIT_RANGES[name];
  return Number.isInteger(value) && value >= least && value <= most;
}

function assertWithin(name: keyof Limits, value: number): void {
  if (isWithin(name, value)) return;
  const [least, most] = LIMIT_RANGES[name];
  throw new RangeError(`${name}: expected a whole number from ${least} to ${most}, given ${value}`);
}
