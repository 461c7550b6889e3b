import { randomBytes } from 'node:crypto';
import type { RedisClient } from '../connection/redis.ts';
import { isRequestId } from '@reroll/core/reload/request';
import { isWorkloadKey, type WorkloadKey } from '@reroll/core/model';

/** A reload that a person asked for. */
export interface ReloadRequest {
  /** `<Unix ms by Redis' clock>-<random>`. */
  readonly id: string;
  /** The authenticated name, and the person's words. */
  readonly actor: string;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/**
 * KEYS  1 the requests
 * ARGV  1 workload, 2 id
 * Gives 1 if the request was removed, else 0: there is none, or a later one. What is no request goes too.
 * Atomic because a request that comes meanwhile must stay.
 */
const DONE = `
local text = redis.call('HGET', KEYS[1], ARGV[1])
if not text then return 0 end
local ok, request = pcall(cjson.decode, text)
if ok and type(request) == 'table' and request.id ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
`;

/** Undefined for what is no request. */
export function decodeRequest(text: string): ReloadRequest | undefined {
  let found: Partial<Record<keyof ReloadRequest, unknown>> | null;
  try {
    found = JSON.parse(text) as typeof found;
  } catch {
    return undefined;
  }
  const { id, actor, reason, at } = found ?? {};
  if (typeof id !== 'string' || typeof actor !== 'string' || typeof reason !== 'string') return undefined;
  return isRequestId(id) && typeof at === 'number' ? { id, actor, reason, at } : undefined;
}

/** Requests that are not done, one a workload at most: a later one takes the place of an earlier. */
export class ReloadRequests {
  readonly #redis: RedisClient;
  readonly #key: string;

  /** `key`: `CatalogKeys.requests`. */
  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  /** Notes it; whoever calls this then enqueues a reload job. Nothing is lost if that fails: the resync enqueues it. */
  async put(workload: WorkloadKey, by: { actor: string; reason: string }): Promise<ReloadRequest> {
    const [seconds, micros] = await this.#redis.time();
    const at = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    const request = { id: `${at}-${randomBytes(5).toString('hex')}`, actor: by.actor, reason: by.reason, at };
    await this.#redis.hset(this.#key, workload, JSON.stringify(request));
    return request;
  }

  async of(workload: WorkloadKey): Promise<ReloadRequest | undefined> {
    const text = await this.#redis.hget(this.#key, workload);
    return text === null ? undefined : decodeRequest(text);
  }

  async workloads(): Promise<WorkloadKey[]> {
    return (await this.#redis.hkeys(this.#key)).filter(isWorkloadKey);
  }

  /** Takes it away, unless another has come since. */
  async done(workload: WorkloadKey, id: string): Promise<void> {
    await this.#redis.eval(DONE, 1, this.#key, workload, id);
  }
}
