import { jsonFields } from '@reroll/core/json';
import { isWorkloadKey, type WorkloadKey } from '@reroll/core/model';
import type { CatalogKeys } from '../catalog/keys.ts';
import type { RedisClient } from '../connection/redis.ts';
import { streamKeys } from '../history/history.ts';
import { WRITE_ROLLOUTS } from '../history/rollouts.lua.ts';
import { readPayload, reloadJob, type ReloadJob } from './jobs.ts';

/** A reload that waits for a slot. */
export interface WaitingReload {
  readonly job: ReloadJob;
  /** See `SlotRequest.most`. */
  readonly most?: number | undefined;
}

/** A slot that was granted, and is not known to be used. */
export interface SlotGrant {
  /** Unix milliseconds by the API server's clock. */
  readonly at: number;
  /** See `lastReloadOf`: it is used once the workload was reloaded later than that. */
  readonly reloadedAt: number;
}

/** Milliseconds after which the leader takes a slot back that was not used. */
export const GRANTED = 60_000;

/**
 * What workers and the leader tell each other about the slots of `--max-concurrent-rollouts`: a worker asks for one, and the leader
 * grants it. Every method rejects with ioredis' error.
 */
export class RolloutSlots {
  readonly #redis: RedisClient;
  readonly #keys: CatalogKeys;
  /** Where the next requests are read. */
  #cursor = '0';

  constructor(redis: RedisClient, keys: CatalogKeys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Whether the workload may be reloaded now. */
  async isGranted(workload: WorkloadKey): Promise<boolean> {
    return (await this.#grantOf(workload)) !== undefined;
  }

  /** The workload begins to use its slot at this time only, because it waits for something else. */
  async keep(workload: WorkloadKey, at: number): Promise<void> {
    const grant = await this.#grantOf(workload);
    if (!grant) return;
    const kept: SlotGrant = { ...grant, at };
    await this.#redis.hset(this.#keys.slots, workload, JSON.stringify(kept));
  }

  async #grantOf(workload: WorkloadKey): Promise<SlotGrant | undefined> {
    const text = await this.#redis.hget(this.#keys.slots, workload);
    return text === null ? undefined : decodeGrant(text);
  }

  /** Asks for a slot. The leader enqueues the job when it is granted. A later call replaces an earlier one. */
  async ask(waiting: WaitingReload): Promise<void> {
    await this.#redis.hset(this.#keys.slotRequests, waiting.job.workload, JSON.stringify(waiting));
  }

  /** The workload needs no slot. One that was used is left to the leader. `reloadedAt`: see `lastReloadOf`. */
  async leave(workload: WorkloadKey, reloadedAt: number): Promise<void> {
    await this.#redis.hdel(this.#keys.slotRequests, workload);
    const grant = await this.#grantOf(workload);
    if (grant && grant.reloadedAt >= reloadedAt) await this.#redis.hdel(this.#keys.slots, workload);
  }

  /** Takes about `count` requests out of Redis. What cannot be read is dropped: its workload asks again. */
  async takeRequests(count: number): Promise<WaitingReload[]> {
    const [next, flat] = await this.#redis.hscan(this.#keys.slotRequests, this.#cursor, 'COUNT', count);
    this.#cursor = next;
    const fields = flat.filter((_, index) => index % 2 === 0);
    if (fields.length === 0) return [];
    await this.#redis.hdel(this.#keys.slotRequests, ...fields);
    return flat.flatMap((text, index) => (index % 2 === 1 ? decodeWaiting(text) : []));
  }

  async grants(): Promise<Map<WorkloadKey, SlotGrant>> {
    const texts = Object.entries(await this.#redis.hgetall(this.#keys.slots));
    return new Map(
      texts.flatMap(([workload, text]) => {
        const grant = decodeGrant(text);
        return grant && isWorkloadKey(workload) ? [[workload, grant] as const] : [];
      }),
    );
  }

  /** Returns false, and writes nothing, if a newer leader has written. */
  async write(
    term: string,
    granted: readonly (readonly [WorkloadKey, SlotGrant])[],
    ended: readonly WorkloadKey[],
  ): Promise<boolean> {
    const { writer, slots } = this.#keys;
    // The script writes a hash for whoever leads. Nothing goes into the history, so its bounds do not count.
    const put = granted.flatMap(([workload, grant]) => [workload, JSON.stringify(grant)]);
    const given = [term, '0:0', granted.length, ...put, ended.length, ...ended];
    const keys = [writer, slots, ...streamKeys(this.#keys, 'rollouts')];
    return Number(await WRITE_ROLLOUTS.run(this.#redis, keys, given)) === 1;
  }
}

function decodeGrant(text: string): SlotGrant | undefined {
  const { at, reloadedAt } = jsonFields(text);
  return typeof at === 'number' && typeof reloadedAt === 'number' ? { at, reloadedAt } : undefined;
}

function decodeWaiting(text: string): WaitingReload[] {
  const { job, most } = jsonFields(text);
  const reading = readPayload(reloadJob, job);
  if (reading.state !== 'read') return [];
  return [typeof most === 'number' ? { job: reading.payload, most } : { job: reading.payload }];
}
