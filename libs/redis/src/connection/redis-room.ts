import { Script } from './script.ts';
import { HISTORY_STREAMS, streamKey, type HistoryStream } from '../history/history.ts';
import type { CatalogKeys } from '../catalog/keys.ts';
import { fieldOf } from './redis-info.ts';
import type { RedisClient } from './redis.ts';

/** The bytes that Redis uses, and its limit. */
export interface RedisMemory {
  readonly used: number;
  readonly max: number;
}

export interface RedisRoomContext {
  readonly redis: RedisClient;
  readonly keys: CatalogKeys;
  /** Whether this process trims the history before Redis is full. One process suffices: the leader. */
  readonly trims: () => boolean;
  /** Called when Redis runs out of room for the history, and when it has room again. */
  readonly onRoom: (isFull: boolean) => void;
  readonly onLook?: (memory: RedisMemory | undefined) => void;
  /** Called when the history could not be dropped. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds. Default: the monotonic clock. */
  readonly now?: () => number;
}

/** Parts of maxmemory: above `FULL` no history is written; below `ROOMY` it is written again. */
const FULL = 0.9;
const ROOMY = 0.8;
/** If the server hides its memory use, history is written again this long after the last refusal (ms). */
const PATIENCE = 60_000;

/** The streams that are dropped first. The audit log is dropped last. */
const FIRST = HISTORY_STREAMS.filter((stream) => stream !== 'audit');

/**
 * KEYS  1 any key of the install, so that the server with the install's keys answers
 *
 * A script because on a Cluster a plain INFO goes to any server.
 */
const INFO = new Script(`return redis.call('INFO', 'memory')`);

/**
 * KEYS  streams
 * ARGV  1 the part of their entries to keep, 0 to 1
 *
 * Returns how many entries were dropped. Redis accepts this call even if its memory is full.
 */
const SHRINK = new Script(`
local dropped = 0
for _, stream in ipairs(KEYS) do
  local keep = math.floor(redis.call('XLEN', stream) * tonumber(ARGV[1]))
  dropped = dropped + redis.call('XTRIM', stream, 'MAXLEN', keep)
end
return dropped
`);

/**
 * Watches whether Redis has room for the history, so that jobs and the catalog get the memory that there is. Before memory is full
 * by INFO, the leader halves the history at each look, and nobody writes it. If a write was refused, the process that made it drops
 * the whole history.
 */
export class RedisRoom {
  readonly #context: RedisRoomContext;
  readonly #now: () => number;
  #isFull = false;
  #refusedAt = 0;
  #memory: RedisMemory | undefined;
  #dropping = false;

  constructor(context: RedisRoomContext) {
    this.#context = context;
    this.#now = context.now ?? (() => performance.now());
  }

  /** Whether history must not be written. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** As of the last look; undefined if the server hides it or has no limit. */
  get memory(): RedisMemory | undefined {
    return this.#memory;
  }

  /** Asks Redis; call it as often as needed. Rejects with ioredis' error if Redis cannot be reached. */
  async look(): Promise<void> {
    this.#memory = await this.#ask();
    this.#context.onLook?.(this.#memory);
    if (!this.#memory) {
      if (this.#isFull && this.#now() - this.#refusedAt >= PATIENCE) this.#set(false);
      return;
    }
    const part = this.#memory.used / this.#memory.max;
    if (part >= FULL) {
      this.#set(true);
      if (this.#context.trims()) await this.#shrink(FIRST, 0.5);
    } else if (part < ROOMY) this.#set(false);
  }

  /** Takes every error of Redis; drops the history if memory is full. Never throws. */
  failed(error: unknown): void {
    if (!isOutOfMemory(error)) return;
    this.#refusedAt = this.#now();
    this.#set(true);
    void this.#drop();
  }

  /** Never rejects. */
  async #drop(): Promise<void> {
    if (this.#dropping) return;
    this.#dropping = true;
    try {
      if ((await this.#shrink(FIRST, 0)) === 0) await this.#shrink(['audit'], 0);
    } catch (error) {
      this.#context.onError(error);
    } finally {
      this.#dropping = false;
    }
  }

  async #shrink(streams: readonly HistoryStream[], part: number): Promise<number> {
    const { redis, keys } = this.#context;
    const names = streams.map((stream) => streamKey(keys, stream));
    return Number(await SHRINK.run(redis, names, [part]));
  }

  async #ask(): Promise<RedisMemory | undefined> {
    const { redis, keys } = this.#context;
    let info: string;
    try {
      info = String(await INFO.run(redis, [keys.cluster]));
    } catch (error) {
      // A managed server hides its memory use.
      if (
        error instanceof Error &&
        /NOPERM|unknown command|not allowed|can't run this command/iu.test(error.message)
      )
        return undefined;
      throw error;
    }
    const number = (name: string): number => Number(fieldOf(info, name) ?? 0);
    const max = number('maxmemory');
    const used = number('used_memory') - number('mem_not_counted_for_evict');
    return max > 0 ? { used, max } : undefined;
  }

  #set(isFull: boolean): void {
    if (this.#isFull === isFull) return;
    this.#isFull = isFull;
    this.#context.onRoom(isFull);
  }
}

/** Covers transactions and scripts that were refused too. */
export function isOutOfMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { previousErrors, cause } = error as { previousErrors?: unknown; cause?: unknown };
  const parts = Array.isArray(previousErrors) ? previousErrors : [];
  return /\bOOM command not allowed\b/u.test(error.message) || [cause, ...parts].some(isOutOfMemory);
}
