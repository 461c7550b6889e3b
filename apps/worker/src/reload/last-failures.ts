import { OTHER_NAMESPACES } from '@reroll/shared/platform/metrics/by-namespace';
import { MOST_NAMESPACES } from '@reroll/shared/platform/metrics/shared';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';

/** Keeps in the metrics when a reload of a namespace last failed, for a bounded number of namespaces and for all others together. */
export class LastFailures {
  readonly #gauge: WorkerMetrics['lastFailedIn'];
  /** The namespaces that have a series and when a reload of each last failed, in this order. */
  readonly #namespaces = new Map<string, number>();

  constructor({ lastFailedIn }: Pick<WorkerMetrics, 'lastFailedIn'>) {
    this.#gauge = lastFailedIn;
  }

  failed(namespace: string): void {
    const now = Date.now() / 1000;
    this.#namespaces.delete(namespace);
    this.#namespaces.set(namespace, now);
    this.#gauge.set({ workload_namespace: namespace }, now);
    for (const [oldest, at] of this.#namespaces) {
      if (this.#namespaces.size <= MOST_NAMESPACES) return;
      this.#namespaces.delete(oldest);
      this.#gauge.remove({ workload_namespace: oldest });
      // Those before failed earlier.
      this.#gauge.set({ workload_namespace: OTHER_NAMESPACES }, at);
    }
  }
}
