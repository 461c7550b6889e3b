import type { RedisClient } from './redis.ts';

/**
 * Takes one token of a budget that refills evenly (GCRA), for all workers together.
 *
 * KEYS  1 the budget: the time (ms) at which it is full again
 * ARGV  1 milliseconds per token, 2 milliseconds of burst
 * Gives 0 if a token was taken, else the milliseconds until there is one.
 * Atomic because two workers must not take the same token. Time is the server's, so that clocks need not agree.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local step, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local wait = full + step - burst - now
if wait > 0 then return math.ceil(wait) end
redis.call('SET', KEYS[1], full + step, 'PX', math.ceil(full + step - now) + 1000)
return 0
`;

/** At most `perMinute` tokens a minute, a tenth of them (at least one) at once. 0: no limit. */
export class RateBudget {
  readonly #redis: RedisClient;
  readonly #key: string;
  #perMinute: number;

  constructor(redis: RedisClient, key: string, perMinute: number) {
    this.#redis = redis;
    this.#key = key;
    this.#perMinute = perMinute;
  }

  setPerMinute(perMinute: number): void {
    this.#perMinute = perMinute;
  }

  /** Milliseconds until a token can be had; 0 if one was taken now. */
  async take(): Promise<number> {
    if (this.#perMinute === 0) return 0;
    const step = 60_000 / this.#perMinute;
    const burst = step * Math.max(1, Math.floor(this.#perMinute / 10));
    return Number(await this.#redis.eval(TAKE, 1, this.#key, step, burst));
  }
}
