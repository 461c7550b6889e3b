import { PROCESS_APPS, readProcess } from './process-codec.ts';
import type { CatalogKeys } from '../catalog/keys.ts';
import type { RedisClient } from '../connection/redis.ts';
import { NOTIFICATIONS, QUEUES } from '../queue/queues.ts';
import type { ExplainSettings } from '@reroll/core/explain/facts';

/** What a heartbeat reports of its process. */
export interface ProcessEntry {
  readonly app: (typeof PROCESS_APPS)[number];
  /** Name of the pod. */
  readonly name: string;
  readonly version: string;
  /** Unix milliseconds by its own clock. */
  readonly startedAt: number;
  /** Unix milliseconds by Redis' clock. */
  readonly seenAt: number;
  /** For a watcher: whether it holds the Lease, and whether all its streams are listed without a gap. */
  readonly leader?: boolean;
  readonly synced?: boolean;
  /** For the leader: how many workloads need a reload, and since when the first one does (Unix ms). */
  readonly owed?: { readonly workloads: number; readonly since: number | null };
  /** Whether this process sees that Redis has no room for a history. */
  readonly redisFull?: boolean;
  /** For a worker: the settings by which it decides. */
  readonly settings?: ExplainSettings;
  /** The limits in force: jobs of a queue at the same time, and reloads per minute of all workers (0: no limit). */
  readonly concurrency?: number;
  readonly reloadsPerMinute?: number;
}

export interface Process extends ProcessEntry {
  readonly id: string;
  /** Whether its heartbeat came in the last 30 s. */
  readonly isLive: boolean;
}

/** The interval between heartbeats (ms). */
export const HEARTBEAT = 10_000;
const GONE_AFTER = 30_000;
const REMOVED_AFTER = 600_000;

/** The processes of this install, by their heartbeats. Times are Redis', so that clocks need not agree. */
export class Processes {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #prefix: string;

  constructor(redis: RedisClient, { processes, prefix }: Pick<CatalogKeys, 'processes' | 'prefix'>) {
    this.#redis = redis;
    this.#key = processes;
    this.#prefix = prefix;
  }

  /** Rejects, with the entry written, if Redis refuses writes to a queue: a user may have rights to the other keys only. */
  async write(id: string, entry: Omit<ProcessEntry, 'seenAt'>): Promise<void> {
    const seenAt = await this.#now();
    const queues = entry.app === 'watcher' ? QUEUES.filter((queue) => queue !== NOTIFICATIONS) : QUEUES;
    await Promise.all([
      this.#redis.hset(this.#key, id, JSON.stringify({ ...entry, seenAt })),
      // A write that changes nothing, because these keys never expire.
      ...queues.map((queue) => this.#redis.persist(`${this.#prefix}:${queue}:meta`)),
    ]);
  }

  /**
   * Returns the live processes, then those that were alive in the last ten minutes; within each, by app, the longest running first.
   */
  async all(): Promise<Process[]> {
    const [now, texts] = await Promise.all([this.#now(), this.#redis.hgetall(this.#key)]);
    const processes = Object.entries(texts).flatMap(([id, text]): Process[] => {
      const entry = readProcess(text) as ProcessEntry | undefined;
      if (!entry || now - entry.seenAt > REMOVED_AFTER) return [];
      return [{ ...entry, id, isLive: now - entry.seenAt <= GONE_AFTER }];
    });
    return processes.sort(byOrder);
  }

  /** Removes an entry at an orderly shutdown. */
  async remove(id: string): Promise<void> {
    await this.#redis.hdel(this.#key, id);
  }

  /** Removes processes without a heartbeat for ten minutes, and invalid entries. */
  async removeDead(): Promise<void> {
    const [now, texts] = await Promise.all([this.#now(), this.#redis.hgetall(this.#key)]);
    const isDead = (text: string): boolean => now - (readProcess(text)?.seenAt ?? 0) > REMOVED_AFTER;
    const dead = Object.entries(texts).flatMap(([id, text]) => (isDead(text) ? [id] : []));
    if (dead.length > 0) await this.#redis.hdel(this.#key, ...dead);
  }

  async #now(): Promise<number> {
    const [seconds, micros] = await this.#redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  }
}

/**
 * Returns the settings of the live worker that started last, because older ones stop soon after an upgrade. Without a live worker,
 * those of the worker in `processes` that started last. Undefined: no worker in the last ten minutes.
 */
export function settingsInForce(processes: readonly Process[]): ExplainSettings | undefined {
  const workers = processes.filter(({ settings }) => settings !== undefined);
  const [newest] = workers.sort((a, b) => Number(b.isLive) - Number(a.isLive) || b.startedAt - a.startedAt);
  return newest?.settings;
}

function byOrder(a: Process, b: Process): number {
  if (a.isLive !== b.isLive) return a.isLive ? -1 : 1;
  return (
    PROCESS_APPS.indexOf(a.app) - PROCESS_APPS.indexOf(b.app) ||
    a.startedAt - b.startedAt ||
    (a.id < b.id ? -1 : 1)
  );
}
