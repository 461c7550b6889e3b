import { Inject, Injectable } from '@nestjs/common';
import { Process } from '@reroll/nest/process';
import { REDIS } from '@reroll/nest/tokens';
import { endIfUnusable } from '@reroll/nest/unusable-queues';
import { Catalog } from '@reroll/redis/catalog/catalog';
import type { RedisClient } from '@reroll/redis/connection/redis';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { AlertGroups } from '@reroll/redis/catalog/alert-groups';
import { Notified } from '@reroll/redis/history/notified';
import { HttpPost } from '@reroll/shared/platform/http/http-post';
import { notificationJob, type NotificationJob } from '@reroll/redis/queue/notification-jobs';
import { Notifications } from '@reroll/redis/queue/notifications';
import { NOTIFICATIONS } from '@reroll/redis/queue/queues';
import { Alerts } from './alerts.ts';
import { NotificationProcessor, type NotificationContext } from './notification.processor.ts';
import type { QueueHandler } from '../queue-runner.ts';
import { WORKER_METRICS, WORKER_OPTIONS } from '../tokens.ts';
import { Webhook } from './webhook.ts';

/** Alerts and the webhook, as the options configure them. Their connections are closed at shutdown. */
@Injectable()
export class Notifying {
  readonly alerts: Alerts | undefined;
  readonly webhook: Webhook | undefined;
  /** Handles the queue of notifications; undefined if both are off. */
  readonly handler: QueueHandler<NotificationJob> | undefined;

  constructor(
    { lifecycle, log, outside }: Process,
    @Inject(WORKER_OPTIONS) options: WorkerOptions,
    @Inject(WORKER_METRICS) metrics: WorkerMetrics,
    @Inject(REDIS) redis: RedisClient,
    catalog: Catalog,
  ) {
    const { alertOnReload, webhookUrl, alertGrouping, alertWindow: window } = options;
    if (!alertOnReload && webhookUrl === undefined) return;
    const notifications = new Notifications({
      connection: redis,
      prefix: catalog.keys.prefix,
      attempts: options.notificationAttempts,
      backoff: options.backoff,
    });
    endIfUnusable(lifecycle, [notifications.queue]);
    lifecycle.onStop('queue of notifications', 2_000, () => notifications.close());
    const groups = new AlertGroups(redis, catalog.keys.alerts);
    if (alertOnReload) {
      const grouped = alertGrouping === 'change' ? groups : undefined;
      const alerts = new Alerts({ notifications, groups: grouped, window, metrics, log });
      lifecycle.onStop('alerts', 3_000, () => alerts.flush());
      this.alerts = alerts;
    }
    if (webhookUrl !== undefined) {
      const notified = new Notified(redis, catalog.keys.announced);
      const deletions = options.reloadOnDelete;
      this.webhook = new Webhook({ notifications, notified, catalog, deletions, metrics, log });
    }
    const processor = new NotificationProcessor({ groups, ...receivers(options, lifecycle, outside) });
    this.handler = handlerOf(processor, metrics, log);
  }
}

function receivers(
  options: WorkerOptions,
  lifecycle: Lifecycle,
  { openReceiver }: Process['outside'],
): Omit<NotificationContext, 'groups'> {
  const { alertOnReload, alertWebhookUrl, alertWebhookProxy: proxy, webhookUrl } = options;
  const { notificationTimeout: timeout } = options;
  const open = (url: string, through?: string): HttpPost => {
    const post = new HttpPost({ url, proxy: through, timeout, dispatcher: openReceiver?.() });
    lifecycle.onStop('connections of notifications', 1_000, () => post.close());
    return post;
  };
  const { alertSink: sink, alertAdditionalInfo: additionalInfo } = options;
  return {
    alert:
      alertOnReload && alertWebhookUrl !== undefined
        ? { post: open(alertWebhookUrl, proxy), sink, additionalInfo }
        : undefined,
    webhook: webhookUrl === undefined ? undefined : { post: open(webhookUrl), form: options.webhookBody },
  };
}

function handlerOf(
  processor: NotificationProcessor,
  metrics: WorkerMetrics,
  log: Logger,
): QueueHandler<NotificationJob> {
  const typeOf = (job: NotificationJob): string => (job.type === 'webhook' ? 'webhook' : 'alert');
  return {
    queue: NOTIFICATIONS,
    schema: notificationJob,
    handle: async (job) => {
      if (await processor.handle(job)) metrics.notifications.inc({ type: typeOf(job), result: 'delivered' });
    },
    failed: async (job, error, { number, isLast }) => {
      metrics.notifications.inc({ type: typeOf(job), result: isLast ? 'failed' : 'retry' });
      const about = { source: job.source, attempt: number, final: isLast, reason: error.message };
      log.error(`Error sending ${typeOf(job)}`, about);
    },
  };
}
