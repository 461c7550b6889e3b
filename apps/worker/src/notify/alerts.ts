import type { AlertGroups } from '@reroll/redis/catalog/alert-groups';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { Notifications } from '@reroll/redis/queue/notifications';

export interface AlertsContext {
  readonly notifications: Notifications;
  /** Defined if alerts are grouped by change. */
  readonly groups: AlertGroups | undefined;
  /** Milliseconds that a group waits for further workloads. */
  readonly window: number;
  readonly metrics: WorkerMetrics;
  readonly log: Logger;
}

/**
 * Enqueues alerts in the background: a reload does not fail because its alert cannot be enqueued. Such an alert is logged
 * and counted.
 */
export class Alerts {
  readonly #context: AlertsContext;
  readonly #pending = new Set<Promise<void>>();

  constructor(context: AlertsContext) {
    this.#context = context;
  }

  reloaded(workload: WorkloadKey, source: SourceKey): void {
    const { metrics, log } = this.#context;
    const done = this.#enqueue(workload, source)
      .catch((error: unknown) => {
        metrics.notifications.inc({ type: 'alert', result: 'lost' });
        log.failure('cannot enqueue an alert', error, { workload, source });
      })
      .finally(() => this.#pending.delete(done));
    this.#pending.add(done);
  }

  /** Resolves when all alerts under way are enqueued. Each has the deadline of a Redis command. */
  async flush(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** Adds to the group first, because its job may run as soon as it is enqueued. */
  async #enqueue(workload: WorkloadKey, source: SourceKey): Promise<void> {
    const { notifications, groups, window } = this.#context;
    if (!groups) return await notifications.enqueueAlert(source, workload);
    await groups.add(source, workload);
    await notifications.enqueueAlerts(source, window);
  }
}
