import { Queue } from 'bullmq';
import { namespaceOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import type { ChangeEvent } from '@reroll/core/notify/message';
import { BurstLevels } from './burst-levels.ts';
import { alertJobOf, alertsJobOf, webhookJobOf, type NotificationJob } from './notification-jobs.ts';
import { NOTIFICATIONS, retries, type QueueSettings } from './queues.ts';

export interface NotificationSettings extends Omit<QueueSettings, 'debounce'> {
  /** Notifications that may wait; no other is taken then, and none of a burst when half as many wait. Default 10,000. */
  readonly mostWaiting?: number;
}

const MOST_WAITING = 10_000;

/** Failed notifications are kept for inspection: a day, at most a thousand. */
const KEEP_FAILED = { age: 86_400, count: 1_000 };

/** Too many notifications wait, so another one was not taken. */
export class NotificationsFullError extends Error {
  override readonly name = 'NotificationsFullError';
  readonly code = 'NOTIFICATIONS_FULL';
}

/**
 * The queue of alerts and webhooks. It is separate so that a slow or unreachable receiver delays nothing else. Equal notifications
 * are one job until it begins, or waits for its next attempt; one that comes while the job runs follows it (docs/adr/0003). So a
 * receiver that was away gets each once. A namespace's burst comes after the notifications of others, and takes at most half of the room
 * (docs/adr/0021). Every method rejects if Redis cannot be reached; those that enqueue also with a
 * `NotificationsFullError`.
 */
export class Notifications {
  readonly queue: Queue<NotificationJob>;
  readonly #settings: NotificationSettings;
  readonly #levels = new BurstLevels();

  constructor(settings: NotificationSettings) {
    this.#settings = settings;
    const { connection, prefix } = settings;
    this.queue = new Queue(NOTIFICATIONS, { connection, prefix });
    // BullMQ reports lost connections here; callers learn of them from their calls.
    this.queue.on('error', () => undefined);
  }

  async enqueueAlert(source: SourceKey, workload: WorkloadKey): Promise<void> {
    await this.#add(alertJobOf(source, workload), `alert:${source}:${workload}`);
  }

  /** Enqueues one job for each source, after `window` milliseconds. The first call fixes the deadline (no `replace`). */
  async enqueueAlerts(source: SourceKey, window: number): Promise<void> {
    await this.#add(alertsJobOf(source), source, window);
  }

  async enqueueWebhook(source: SourceKey, event: ChangeEvent): Promise<void> {
    await this.#add(webhookJobOf(source, event), `webhook:${event}:${source}`);
  }

  async close(): Promise<void> {
    await this.queue.close();
  }

  async #add(job: NotificationJob, id: string, delay = 0): Promise<void> {
    const priority = this.#levels.next(namespaceOf(job.source));
    if (!(await this.#hasRoom(id, priority)))
      throw new NotificationsFullError(`too many notifications wait to take another ${job.type}`);
    await this.queue.add(job.type, job, {
      delay,
      priority,
      deduplication: { id, keepLastIfActive: true },
      ...retries(this.#settings, KEEP_FAILED),
    });
  }

  /** Whether few enough wait, or this one would be no further job. Bursts leave half of the room to others. */
  async #hasRoom(id: string, level: number): Promise<boolean> {
    const counts = await this.queue.getJobCounts('wait', 'delayed', 'prioritized');
    const waiting = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const most = this.#settings.mostWaiting ?? MOST_WAITING;
    if (waiting < (level === 0 ? most : most / 2)) return true;
    return (await this.queue.getDeduplicationJobId(id)) !== null;
  }
}
