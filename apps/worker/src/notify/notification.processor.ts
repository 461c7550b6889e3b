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

  /** Rejects with a `JobError`, or ioredis' error. */
  async handle(job: NotificationJob): Promise<void> {
    if (job.type === 'webhook') await this.#webhook(job);
    else if (job.type === 'alert') await this.#alert(job.source, [job.workload]);
    else await this.#group(job.source);
  }

  async #group(source: SourceKey): Promise<void> {
    const { groups } = this.#context;
    const workloads = await groups.members(source);
    if (workloads.length === 0) return;
    await this.#alert(source, workloads);
    await groups.remove(source, workloads);
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
