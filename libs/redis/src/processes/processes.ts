import { PROCESS_APPS, readProcess } from './process-codec.ts';
import type { RedisClient } from '../connection/redis.ts';
import type { Triggers } from '@reroll/core/state/settings';
import type { DecisionSettings } from '@reroll/core/rules/decision';

/** What a worker decides by: who explains its decisions goes by these. */
export interface ProcessSettings {
  readonly decision: DecisionSettings;
  readonly triggers: Triggers;
  readonly adoptStale: 'report' | 'reload';
  readonly dryRun: boolean;
  /** Changes are posted to `--webhook-url`, and nothing is reloaded. */
  readonly notifyOnly: boolean;
}

/** What a process says of itself. */
export interface ProcessEntry {
  readonly app: (typeof PROCESS_APPS)[number];
  /** Of its pod. */
  readonly name: string;
  readonly version: string;
  /** Unix milliseconds by its own clock. */
  readonly startedAt: number;
  /** Unix milliseconds by Redis' clock. */
  readonly seenAt: number;
  /** Of a watcher: whether it holds the Lease, and whether all its streams are listed and without a gap. */
  readonly leader?: boolean;
  readonly synced?: boolean;
  /** Of the leader: workloads that run other data than they should, and since when the longest waits (Unix ms). */
  readonly owed?: { readonly workloads: number; readonly since: number | null };
  /** Redis has no room for a history, as this process sees it. */
  readonly redisFull?: boolean;
  /** Of a worker. */
  readonly settings?: ProcessSettings;
  /** Jobs of a queue at the same time; reloads a minute of all workers, 0: no limit. As they are in force. */
  readonly concurrency?: number;
  readonly reloadsPerMinute?: number;
}

export interface Process extends ProcessEntry {
  readonly id: string;
  /** Heard of in the last 30 s. */
  readonly isLive: boolean;
}

/** How often a process writes its own entry (ms). */
export const HEARTBEAT = 10_000;
const GONE_AFTER = 30_000;
const REMOVED_AFTER = 600_000;

/** The processes of this install, each by an entry that it writes itself. Times are Redis', so that clocks need not agree. */
export class Processes {
  readonly #redis: RedisClient;
  readonly #key: string;

  /** `key`: `CatalogKeys.processes`. */
  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  async write(id: string, entry: Omit<ProcessEntry, 'seenAt'>): Promise<void> {
    const seenAt = await this.#now();
    await this.#redis.hset(this.#key, id, JSON.stringify({ ...entry, seenAt }));
  }

  /** Those that are alive, then those that were in the last ten minutes, each by app, the longest running first. */
  async all(): Promise<Process[]> {
    const [now, texts] = await Promise.all([this.#now(), this.#redis.hgetall(this.#key)]);
    const processes = Object.entries(texts).flatMap(([id, text]): Process[] => {
      const entry = readProcess(text) as ProcessEntry | undefined;
      if (!entry || now - entry.seenAt > REMOVED_AFTER) return [];
      return [{ ...entry, id, isLive: now - entry.seenAt <= GONE_AFTER }];
    });
    return processes.sort(byOrder);
  }

  /** At its orderly end. */
  async remove(id: string): Promise<void> {
    await this.#redis.hdel(this.#key, id);
  }

  /** Drops those that were not heard of for ten minutes, and what is no entry. */
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
 * The settings of the worker that began last and is alive: after an upgrade those of before end soon. If none is
 * alive, of the one of `processes` that began last. Undefined: no worker was heard of in the last ten minutes.
 */
export function settingsInForce(processes: readonly Process[]): ProcessSettings | undefined {
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
