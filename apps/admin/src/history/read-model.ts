import { setTimeout as pause } from 'node:timers/promises';
import { HISTORY_STREAMS, type HistoryStream } from '@reroll/redis/history/history';
import type { HistoryReader, Portion } from '@reroll/redis/history/history-reader';
import { reconnectDelay } from '@reroll/redis/connection/reconnect-delay';
import { afterId, indexOfId } from '@reroll/core/history/stream-id';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { ShownHashes } from '../shown-hashes.ts';
import { HistoryContents } from './history-contents.ts';

export interface ReadModelContext {
  readonly reader: HistoryReader;
  /** The key of shown hashes is in Redis, too. */
  readonly hashes: Pick<ShownHashes, 'agree'>;
  readonly metrics: AdminMetrics;
  readonly log: Logger;
  /** Fires at shutdown. */
  readonly signal: AbortSignal;
}

/** Entries in one read. */
const PORTION = 500;
/** Milliseconds for which Redis waits for an entry, after which the streams are checked. */
const WAIT = 2_000;
/** In this order, each entry finds what it belongs to. */
const LOADED: readonly HistoryStream[] = ['rollouts', 'outcomes', 'changes', 'audit'];

/**
 * The history in memory: follows the streams and joins them. If Redis was emptied or set back, the streams differ from
 * those that were read, and everything is read again.
 */
export class ReadModel {
  #contents = new HistoryContents();
  readonly #context: ReadModelContext;
  readonly #listeners = new Set<() => void>();

  constructor(context: ReadModelContext) {
    this.#context = context;
  }

  /** The present contents; a new object once everything was read again. */
  get contents(): HistoryContents {
    return this.#contents;
  }

  /**
   * `listener` is called after entries are added, and when everything was read again. Returns a function that
   * unsubscribes it.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when all existing entries are read, or at shutdown. Retries until then. */
  async begin(): Promise<void> {
    await this.#untilDone(() => this.#load());
  }

  /** Follows the streams until shutdown. Never rejects. */
  async follow(): Promise<void> {
    let lookAt = performance.now() + WAIT;
    while (!this.#context.signal.aborted) {
      await this.#untilDone(async () => {
        this.#add(await this.#next());
        if (performance.now() < lookAt) return;
        lookAt = performance.now() + WAIT;
        if (!(await this.#isSame())) await this.#load();
      });
    }
  }

  #next(): Promise<Portion> {
    return this.#context.reader.next(this.#contents.positions, { count: PORTION, milliseconds: WAIT });
  }

  /** Retries after growing pauses, until it succeeds or shutdown begins. */
  async #untilDone(action: () => Promise<void>): Promise<void> {
    const { signal, metrics, log } = this.#context;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        await action();
        return;
      } catch (error) {
        if (signal.aborted) return;
        metrics.historyFailures.inc();
        if (attempt === 0) log.failure('cannot follow the history, retrying', error);
        await pause(reconnectDelay(attempt), undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #load(): Promise<void> {
    const { reader, hashes, log, signal } = this.#context;
    const fresh = new HistoryContents();
    await hashes.agree();
    for (const stream of LOADED) {
      const { oldest, isTrimmed } = await reader.bounds(stream, fresh.positions[stream]);
      if (oldest === undefined) continue;
      if (isTrimmed === true) fresh.drop(stream, oldest);
      else if (isTrimmed === undefined) fresh.horizon[stream] = oldest;
    }
    for (const stream of LOADED) {
      let portion: Portion;
      do {
        portion = await reader.page(stream, { positions: fresh.positions, count: PORTION });
        this.#put(fresh, portion);
        await pause(0);
      } while (portion.entries.length + portion.unusable > 0 && !signal.aborted);
    }
    this.#contents = fresh;
    log.info('the history was read', { changes: fresh.join.changes.length });
    this.#notify();
  }

  #add(portion: Portion): void {
    this.#put(this.#contents, portion);
    if (portion.entries.length > 0) this.#notify();
  }

  #put(contents: HistoryContents, { entries, dropped, positions, unusable }: Portion): void {
    for (const entry of entries) contents.add(entry);
    for (const one of dropped) contents.drop(one.stream, afterId(one.id), one);
    contents.positions = positions;
    if (unusable > 0) this.#context.metrics.historyUnusable.inc(unusable);
  }

  #notify(): void {
    const { historyEntries } = this.#context.metrics;
    for (const stream of HISTORY_STREAMS) historyEntries.set({ stream }, this.#contents.rows(stream).length);
    for (const listener of this.#listeners) listener();
  }

  /** Whether the streams continue what was read. Also drops the entries that they dropped. */
  async #isSame(): Promise<boolean> {
    const contents = this.#contents;
    const { positions } = contents;
    const bounds = await Promise.all(
      HISTORY_STREAMS.map(async (stream) => {
        const bound = await this.#context.reader.bounds(stream, positions[stream]);
        return [stream, bound] as const;
      }),
    );
    if (!bounds.every(([, { continues }]) => continues)) return false;
    for (const [stream, { oldest }] of bounds) {
      // The stream is empty: every entry was trimmed by age.
      const from = oldest ?? afterId(positions[stream]);
      if (indexOfId(contents.rows(stream), from) > 0) contents.drop(stream, from);
    }
    // More than there are: entries that told what was dropped were dropped themselves before they were read.
    return bounds.every(([stream, { length = Infinity }]) => contents.rows(stream).length <= length);
  }
}
