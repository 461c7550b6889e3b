import { once } from 'node:events';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';

/** Whether this watcher leads and is in sync, for health and metrics. */
export class WatcherState {
  readonly #metrics: WatcherMetrics;
  readonly #leading = new AbortController();
  readonly #synced = new AbortController();
  #isSynced: () => boolean = () => false;

  constructor(metrics: WatcherMetrics) {
    this.#metrics = metrics;
  }

  get isLeading(): boolean {
    return this.#leading.signal.aborted;
  }

  lead(): void {
    this.#leading.abort();
    this.#metrics.leader.set(1);
  }

  /** Fires when every stream has been listed for the first time. */
  get firstSync(): AbortSignal {
    return this.#synced.signal;
  }

  /** Resolves when this watcher leads, or the signal fires. */
  async whenLeading(signal: AbortSignal): Promise<void> {
    if (this.#leading.signal.aborted || signal.aborted) return;
    await Promise.race([once(this.#leading.signal, 'abort'), once(signal, 'abort')]);
  }

  followStreams(isSynced: () => boolean): void {
    this.#isSynced = isSynced;
    this.#metrics.synced.set(1);
    this.#synced.abort();
  }

  /** Whether every stream has been listed and continues without a gap. */
  isSynced(): boolean {
    const synced = this.#isSynced();
    this.#metrics.synced.set(synced ? 1 : 0);
    return synced;
  }
}
