import type { WorkloadKey } from '@reroll/core/model';
import type { RedisClient } from '../connection/redis.ts';
import { Script } from '../connection/script.ts';

/** Milliseconds for which a slot is held for its workload; the most that a worker loses that stops. */
const HOLD = 60_000;
/** Milliseconds that a workload may be late before others pass it. */
const GRACE = 60_000;
/** The longest wait that a workload is given, in milliseconds: how long it takes to notice a raised limit. */
const LONGEST_WAIT = 300_000;
/** Milliseconds after which an unused queue expires. */
const KEEP = 2 * (LONGEST_WAIT + GRACE);
/** The most absent workloads that one call passes over. */
const PASSED_OVER = 32;

/** Shared by both scripts: the keys, the time, and how a workload leaves the queue. */
const COMMON = `
local budget, order, tags, due, held = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function namespaceOf(workload) return string.match(workload, '^[^/]*/([^/]*)') or '' end
local function leave(workload)
  local tag = redis.call('ZSCORE', order, workload)
  if not tag then return end
  redis.call('ZREM', order, workload)
  redis.call('ZREM', due, workload)
  local namespace = namespaceOf(workload)
  if tonumber(redis.call('HGET', tags, namespace) or '0') == tonumber(tag) then
    if tonumber(tag) - 1 > tonumber(redis.call('HGET', tags, '/') or '0') then
      redis.call('HSET', tags, namespace, tonumber(tag) - 1)
    else
      redis.call('HDEL', tags, namespace)
    end
  end
end
`;

/**
 * Asks for a slot, in a queue that is first in, first out within a namespace and round robin between namespaces.
 *
 * KEYS  1 the budget (string): the time (ms) at which it is full again (GCRA)
 *       2 the order (sorted set): waiting workloads, by the round of their turn
 *       3 the rounds (hash): namespace to the round of its last workload, `/` to the last round served
 *       4 the deadlines (sorted set): waiting workloads, by the time (ms) until which they must ask again
 *       5 the held slots (sorted set): workloads, by the time (ms) at which they lose them
 * ARGV  1 milliseconds per token, 2 milliseconds of burst, 3 the workload, 4 '1' to join the queue, '0' only to ask
 *
 * Returns 0 if the workload holds a slot, otherwise the milliseconds until its turn; -1 if it only asked and does not wait. A
 * waiting workload must ask again at that time; a minute later it loses its place. Atomic because a token goes to exactly one
 * workload, chosen by the order. Time is the server's, so that clocks need not agree. O(log n) in the number of waiting workloads,
 * with a few hundred bytes for each.
 */
const CLAIM = new Script(`${COMMON}
local step, burst, workload = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
redis.call('ZREMRANGEBYSCORE', held, '-inf', now)
if redis.call('ZSCORE', held, workload) then return 0 end
local tag = tonumber(redis.call('ZSCORE', order, workload) or '0')
if tag == 0 and ARGV[4] == '0' then return -1 end
local served = tonumber(redis.call('HGET', tags, '/') or '0')
local namespace = namespaceOf(workload)
if tag == 0 then
  tag = math.max(served, tonumber(redis.call('HGET', tags, namespace) or '0')) + 1
  redis.call('ZADD', order, tag, workload)
  redis.call('HSET', tags, namespace, tag)
end
for _ = 1, ${PASSED_OVER} do
  local first = redis.call('ZRANGE', order, 0, 0)[1]
  if first == workload or tonumber(redis.call('ZSCORE', due, first) or '0') >= now then break end
  leave(first)
end
local rank = redis.call('ZRANK', order, workload)
local full = math.max(tonumber(redis.call('GET', budget) or '0'), now)
if full > now + burst then
  -- It was set under a lower limit: the tokens of the present one come from now on.
  full = now + burst
  redis.call('SET', budget, full, 'PX', math.ceil(burst) + 1000)
end
local wait = full + (rank + 1) * step - burst - now
if wait <= 0 then
  redis.call('SET', budget, full + step, 'PX', math.ceil(full + step - now) + 1000)
  leave(workload)
  if redis.call('EXISTS', order) == 0 then
    redis.call('DEL', tags)
  else
    served = math.max(served, tag)
    redis.call('HSET', tags, '/', served)
    if tonumber(redis.call('HGET', tags, namespace) or '0') <= served then redis.call('HDEL', tags, namespace) end
  end
  redis.call('ZADD', held, now + ${HOLD}, workload)
  redis.call('PEXPIRE', held, ${HOLD} + 1000)
  return 0
end
if wait > ${LONGEST_WAIT} then wait = ${LONGEST_WAIT} * (0.5 + (rank % 1000) / 2000) end
redis.call('ZADD', due, now + wait + ${GRACE}, workload)
for _, key in ipairs({ order, tags, due }) do redis.call('PEXPIRE', key, ${KEEP}) end
return math.ceil(wait)
`);

/**
 * Ends a claim: the slot was used, or is given back.
 *
 * KEYS  as above
 * ARGV  1 milliseconds per token, 2 the workload, 3 '1' if the slot was used, otherwise '0'
 *
 * Atomic because a token must be given back only once.
 */
const END = new Script(`${COMMON}
leave(ARGV[2])
if redis.call('EXISTS', order) == 0 then redis.call('DEL', tags) end
if redis.call('ZREM', held, ARGV[2]) == 0 or ARGV[3] == '1' then return end
local full = tonumber(redis.call('GET', budget) or '0') - tonumber(ARGV[1])
if full <= now then
  redis.call('DEL', budget)
else
  redis.call('SET', budget, full, 'PX', math.ceil(full - now) + 1000)
end
`);

/**
 * The limit of reloads per minute: at most `perMinute` slots in a minute, a tenth of them (at least one) at once, for all workers
 * together. 0: no limit, and no calls. Every method rejects with ioredis' error if Redis cannot be reached.
 */
export class RateBudget {
  readonly #redis: RedisClient;
  readonly #keys: readonly string[];
  #perMinute: number;

  /** `key`: `CatalogKeys.budget`. */
  constructor(redis: RedisClient, key: string, perMinute: number) {
    this.#redis = redis;
    this.#keys = [key, `${key}:order`, `${key}:rounds`, `${key}:deadlines`, `${key}:held`];
    this.#perMinute = perMinute;
  }

  setPerMinute(perMinute: number): void {
    this.#perMinute = perMinute;
  }

  get isLimited(): boolean {
    return this.#perMinute > 0;
  }

  /**
   * Returns the milliseconds until the workload's turn; 0 if it holds a slot now. The workload keeps its place until it asks again.
   */
  async claim(workload: WorkloadKey): Promise<number> {
    return this.#claim(workload, true);
  }

  /** `claim` for a workload that already waits; undefined if it does not. */
  async ask(workload: WorkloadKey): Promise<number | undefined> {
    const wait = await this.#claim(workload, false);
    return wait < 0 ? undefined : wait;
  }

  /** Ends a claim. An unused slot is given back. */
  async end(workload: WorkloadKey, isUsed: boolean): Promise<void> {
    if (!this.isLimited) return;
    await END.run(this.#redis, this.#keys, [this.#step, workload, isUsed ? '1' : '0']);
  }

  async #claim(workload: WorkloadKey, joins: boolean): Promise<number> {
    if (!this.isLimited) return 0;
    const burst = this.#step * Math.max(1, Math.floor(this.#perMinute / 10));
    const given = [this.#step, burst, workload, joins ? '1' : '0'];
    return Number(await CLAIM.run(this.#redis, this.#keys, given));
  }

  /** Milliseconds per token. */
  get #step(): number {
    return 60_000 / this.#perMinute;
  }
}
