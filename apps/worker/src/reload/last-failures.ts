import { MOST_NAMESPACES } from '@reroll/shared/platform/metrics/shared';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';

/** Keeps in the metrics when a reload of a namespace last failed, for a bounded number of namespaces. */
export class LastFailures {
  readonly #gauge: WorkerMetrics['lastFailedIn'];
  /** The namespaces that have a series, by their last failure. */
  readonly #namespaces = new Set<string>();

  constructor({ lastFailedIn }: Pick<WorkerMetrics, 'lastFailedIn'>) {
    this.#gauge = lastFailedIn;
  }

  failed(namespace: string): void {
    this.#namespaces.delete(namespace);
    this.#namespaces.add(namespace);
    this.#gauge.set({ workload_namespace: namespace }, Date.now() / 1000);
    for (const oldest of this.#namespaces) {
      if (this.#namespaces.size <= MOST_NAMESPACES) return;
      this.#namespaces.delete(oldest);
      this.#gauge.remove({ workload_namespace: oldest });
    }
  }
}
