import type { History } from '@reroll/redis/history/history';
import type { RedisRoom } from '@reroll/redis/connection/redis-room';
import type { ChangeEntry, OutcomeEntry } from '@reroll/core/history/entries';
import type { SourceKey } from '@reroll/core/model';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import { QuietChanges } from './change/quiet-changes.ts';

/** Entries written at a time. With more, Redis is too slow for a history. */
const MOST_PENDING = 2_000;

export interface RecorderContext {
  readonly history: Pick<History, 'addChange' | 'addOutcome' | 'expectOutcomes' | 'before'>;
  /** Tells whether Redis has room for the history, and is notified of every failed write. */
  readonly room: Pick<RedisRoom, 'isFull' | 'failed'>;
  readonly metrics: Pick<WorkerMetrics, 'historyDropped'>;
  readonly log: Logger;
}

/**
 * Writes the history in the background: nothing waits for it, and a reload does not fail because its entry cannot be
 * written. Entries that are not written are counted.
 */
export class OutcomeRecorder {
  readonly #context: RecorderContext;
  readonly #pending = new Set<Promise<void>>();
  readonly #quiet: QuietChanges;

  constructor(context: RecorderContext) {
    this.#context = context;
    this.#quiet = new QuietChanges({
      record: (entry) => this.#record(entry),
      recordLate: (entry) => this.#recordLate(entry),
    });
  }

  /** Call this before the workloads of the change are enqueued, so that no outcome is recorded before the change. */
  expectOutcomes(entry: ChangeEntry): void {
    this.#write(() => this.#context.history.expectOutcomes(entry), { source: entry.source ?? 'none' });
  }

  addChange(entry: ChangeEntry): void {
    const merged = entry.source === null ? 0 : this.#quiet.take(entry.source);
    this.#record(merged > 0 ? { ...entry, merged } : entry);
  }

  /** Adds a change that enqueued no workload. It is recorded at once, or merged with others of its source. */
  addQuietChange(entry: ChangeEntry): void {
    this.#quiet.add(entry);
  }

  /** `source` is the one whose change enqueued the job. */
  addOutcome(entry: OutcomeEntry, source?: SourceKey): void {
    const { workload, reason } = entry;
    this.#write(() => this.#context.history.addOutcome(entry, source), { workload, reason });
  }

  /** Resolves when everything is written. Each write has the deadline of a Redis command. */
  async flush(): Promise<void> {
    this.#quiet.flush();
    await Promise.all(this.#pending);
  }

  #record(entry: ChangeEntry): void {
    const { history } = this.#context;
    this.#write(() => history.addChange(entry), { source: entry.source ?? 'none' });
  }

  /** Records the change unless another worker has recorded a later one meanwhile. */
  #recordLate(entry: ChangeEntry): void {
    const { history } = this.#context;
    const { source } = entry;
    if (source === null) return this.#record(entry);
    const write = async (): Promise<void> => {
      if (await history.before(source)) await history.addChange(entry);
    };
    this.#write(write, { source });
  }

  #write(write: () => Promise<void>, about: Readonly<Record<string, string>>): void {
    const { metrics, log, room } = this.#context;
    if (room.isFull) return metrics.historyDropped.inc({ reason: 'full' });
    if (this.#pending.size >= MOST_PENDING) return metrics.historyDropped.inc({ reason: 'busy' });
    const done = write()
      .catch((error: unknown) => {
        room.failed(error);
        metrics.historyDropped.inc({ reason: 'error' });
        log.failure('cannot write a history entry', error, about);
      })
      .finally(() => this.#pending.delete(done));
    this.#pending.add(done);
  }
}
