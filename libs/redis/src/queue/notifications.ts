import { Queue } from 'bullmq';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import type { ChangeEvent } from '@reroll/core/notify/message';
import { alertJobOf, alertsJobOf, webhookJobOf, type NotificationJob } from './notification-jobs.ts';
import { retries, type QueueSettings } from './queues.ts';

export const NOTIFICATIONS = 'notifications';

export type NotificationSettings = Omit<QueueSettings, 'debounce'>;

/** Failed notifications are kept for inspection: a day, at most a thousand. */
const KEEP_FAILED = { age: 86_400, count: 1_000 };

/**
 * The queue of alerts and webhooks. It is separate so that a slow or unreachable receiver delays nothing else. Every method rejects
 * if Redis cannot be reached.
 */
export class Notifications {
  readonly queue: Queue<NotificationJob>;
  readonly #settings: NotificationSettings;

  constructor(settings: NotificationSettings) {
    this.#settings = settings;
    const { connection, prefix } = settings;
    this.queue = new Queue(NOTIFICATIONS, { connection, prefix });
    // BullMQ reports lost connections here; callers learn of them from their calls.
    this.queue.on('error', () => undefined);
  }

  async enqueueAlert(source: SourceKey, workload: WorkloadKey): Promise<void> {
    await this.#add(alertJobOf(source, workload));
  }

  /**
   * Enqueues one job for each source, after `window` milliseconds. The first call fixes the deadline (no `replace`); a call while
   * the job runs adds one follow-up (docs/adr/0003).
   */
  async enqueueAlerts(source: SourceKey, window: number): Promise<void> {
    await this.#add(alertsJobOf(source), {
      delay: window,
      deduplication: { id: source, keepLastIfActive: true },
    });
  }

  async enqueueWebhook(source: SourceKey, event: ChangeEvent): Promise<void> {
    await this.#add(webhookJobOf(source, event));
  }

  async close(): Promise<void> {
    await this.queue.close();
  }

  async #add(
    job: NotificationJob,
    options: { delay?: number; deduplication?: { id: string; keepLastIfActive: true } } = {},
  ): Promise<void> {
    await this.queue.add(job.type, job, {
      ...options,
      ...retries(this.#settings, KEEP_FAILED),
    });
  }
}
