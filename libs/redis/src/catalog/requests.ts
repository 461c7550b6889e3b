import { readPassedHolds, type PassedHold } from '@reroll/core/holds/passed';
import { jsonFields } from '@reroll/core/json';
import { randomBytes } from 'node:crypto';
import type { RedisClient } from '../connection/redis.ts';
import { Script } from '../connection/script.ts';
import { isRequestId } from '@reroll/core/reload/request';
import { isWorkloadKey, type WorkloadKey } from '@reroll/core/model';

export interface ReloadRequest {
  /** `<Unix ms by Redis' clock>-<random>`. */
  readonly id: string;
  /** The authenticated name of the user, and the reason that the user gave. */
  readonly actor: string;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Holds that it passes. Undefined: none. */
  readonly passes?: readonly PassedHold[];
}

/** Who asks for a reload, and why. `passes`: the holds that it passes; default none. */
export type RequestedBy = Pick<ReloadRequest, 'actor' | 'reason' | 'passes'>;

/**
 * KEYS  1 the requests
 * ARGV  1 workload, 2 id
 *
 * Returns 1 if the request was removed; 0 if there is none or a later one. Invalid requests are removed too. Atomic because a
 * request that arrives meanwhile must stay.
 */
const DONE = new Script(`
local text = redis.call('HGET', KEYS[1], ARGV[1])
if not text then return 0 end
local ok, request = pcall(cjson.decode, text)
if ok and type(request) == 'table' and request.id ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

/** Returns undefined if the text is no request. */
export function decodeRequest(text: string): ReloadRequest | undefined {
  const { id, actor, reason, at, passes } = jsonFields(text);
  if (typeof id !== 'string' || typeof actor !== 'string' || typeof reason !== 'string') return undefined;
  if (!isRequestId(id) || typeof at !== 'number') return undefined;
  return { id, actor, reason, at, ...passing(readPassedHolds(passes)) };
}

function passing(passes: readonly PassedHold[] = []): Pick<ReloadRequest, 'passes'> {
  return passes.length === 0 ? {} : { passes };
}

/** Open requests, at most one for each workload: a later one replaces an earlier one. */
export class ReloadRequests {
  readonly #redis: RedisClient;
  readonly #key: string;

  /** `key`: `CatalogKeys.requests`. */
  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  /** Stores a request; the caller then enqueues a reload job. If that fails, the resync enqueues it. */
  async put(workload: WorkloadKey, by: RequestedBy): Promise<ReloadRequest> {
    const [seconds, micros] = await this.#redis.time();
    const at = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    const { actor, reason, passes } = by;
    const id = `${at}-${randomBytes(5).toString('hex')}`;
    const request: ReloadRequest = { id, actor, reason, at, ...passing(passes) };
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

  /** Removes the request, unless a later one replaced it. */
  async done(workload: WorkloadKey, id: string): Promise<void> {
    await DONE.run(this.#redis, [this.#key], [workload, id]);
  }
}
