import type { AlertGroups } from '@reroll/redis/catalog/alert-groups';
import { partsOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import { alertText } from '@reroll/core/notify/alert-text';
import { alertMessage, webhookMessage, type AlertSink, type Message } from '@reroll/core/notify/message';
import { PostError, type HttpPost } from '@reroll/shared/platform/http/http-post';
import type { NotificationJob } from '@reroll/redis/queue/notification-jobs';
import { JobError } from '../job-error.ts';

/** Where alerts go, and in what form. */
export interface AlertReceiver {
  readonly post: HttpPost;
  readonly sink: AlertSink;
  readonly additionalInfo: string;
}

export interface WebhookReceiver {
  readonly post: HttpPost;
  readonly form: 'change' | 'legacy';
}

export interface NotificationContext {
  readonly alert: AlertReceiver | undefined;
  readonly webhook: WebhookReceiver | undefined;
  readonly groups: AlertGroups;
}

/** Sends one alert or webhook. It is sent twice if this process dies between the response and the end of the job. */
export class NotificationProcessor {
  readonly #context: NotificationContext;

  constructor(context: NotificationContext) {
    this.#context = context;
  }

  /** Returns whether anything was sent: an earlier job may have sent what this one was for. Rejects with a `JobError`, or ioredis' error. */
  async handle(job: NotificationJob): Promise<boolean> {
    if (job.type === 'alerts') return await this.#group(job.source);
    if (job.type === 'webhook') await this.#webhook(job);
    else await this.#alert(job.source, [job.workload]);
    return true;
  }

  async #group(source: SourceKey): Promise<boolean> {
    const { groups } = this.#context;
    const workloads = await groups.take(source);
    if (workloads.length === 0) return false;
    await this.#alert(source, workloads);
    await groups.sent(source, workloads);
    return true;
  }

  async #alert(source: SourceKey, workloads: readonly WorkloadKey[]): Promise<void> {
    const { alert } = this.#context;
    if (!alert) throw new JobError('NotDelivered', 'alerts are off in this worker');
    const text = alertText(partsOf(source), workloads.map(partsOf), alert.additionalInfo);
    await post(alert.post, alertMessage(alert.sink, text));
  }

  async #webhook({ source, event }: NotificationJob & { type: 'webhook' }): Promise<void> {
    const { webhook } = this.#context;
    if (!webhook) throw new JobError('NotDelivered', 'this worker has no --webhook-url');
    const change = { source: partsOf(source), event };
    await post(webhook.post, webhookMessage(webhook.form, change));
  }
}

async function post(to: HttpPost, message: Message): Promise<void> {
  try {
    await to.send(message);
  } catch (error) {
    throw error instanceof PostError ? new JobError('NotDelivered', error.code) : error;
  }
}
