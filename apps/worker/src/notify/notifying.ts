import { AlertGroups } from '@reroll/redis/catalog/alert-groups';
import { Notified } from '@reroll/redis/history/notified';
import { HttpPost } from '@reroll/shared/platform/http/http-post';
import { notificationJob, type NotificationJob } from '@reroll/redis/queue/notification-jobs';
import { Notifications, NOTIFICATIONS } from '@reroll/redis/queue/notifications';
import { Alerts } from './alerts.ts';
import type { WorkerContext } from '../lifecycle.ts';
import { NotificationProcessor, type NotificationContext } from './notification.processor.ts';
import type { QueueHandler } from '../queue-runner.ts';
import { Webhook } from './webhook.ts';

/** What tells others, if anything does. */
export interface Notifying {
  readonly alerts: Alerts | undefined;
  readonly webhook: Webhook | undefined;
  /** Runs the queue; undefined if neither is on. */
  readonly handler: QueueHandler<NotificationJob> | undefined;
}

/** Alerts and webhook, as the options have them. What they need ends with the lifecycle. */
export function notifying(context: WorkerContext): Notifying {
  const { options, lifecycle, redis, catalog, metrics, log } = context;
  const { alertOnReload, webhookUrl, alertGrouping, alertWindow: window } = options;
  if (!alertOnReload && webhookUrl === undefined)
    return { alerts: undefined, webhook: undefined, handler: undefined };
  const { prefix } = catalog.keys;
  const notifications = new Notifications({
    connection: redis,
    prefix,
    attempts: options.notificationAttempts,
    backoff: options.backoff,
  });
  lifecycle.onStop('queue of notifications', 2_000, () => notifications.close());
  const groups = new AlertGroups(redis, catalog.keys.alerts);
  const grouped = alertGrouping === 'change' ? groups : undefined;
  const alerts = alertOnReload
    ? new Alerts({ notifications, groups: grouped, window, metrics, log })
    : undefined;
  if (alerts) lifecycle.onStop('alerts', 3_000, () => alerts.flush());
  const notified = new Notified(redis, catalog.keys.announced);
  const deletions = options.reloadOnDelete;
  const webhook =
    webhookUrl === undefined ? undefined : new Webhook({ notifications, notified, catalog, deletions, log });
  const processor = new NotificationProcessor({ groups, ...receivers(context) });
  return { alerts, webhook, handler: handlerOf(processor, context) };
}

function receivers({ options, lifecycle }: WorkerContext): Omit<NotificationContext, 'groups'> {
  const { alertOnReload, alertWebhookUrl, alertWebhookProxy: proxy, webhookUrl } = options;
  const { notificationTimeout: timeout } = options;
  const open = (url: string, through?: string): HttpPost => {
    const post = new HttpPost({ url, proxy: through, timeout });
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
  { metrics, log }: WorkerContext,
): QueueHandler<NotificationJob> {
  const typeOf = (job: NotificationJob): string => (job.type === 'webhook' ? 'webhook' : 'alert');
  return {
    queue: NOTIFICATIONS,
    schema: notificationJob,
    handle: async (job) => {
      await processor.handle(job);
      metrics.notifications.inc({ type: typeOf(job), result: 'delivered' });
    },
    failed: async (job, error, { number, isLast }) => {
      metrics.notifications.inc({ type: typeOf(job), result: isLast ? 'failed' : 'retry' });
      const about = { source: job.source, attempt: number, final: isLast, reason: error.message };
      log.error(`Error sending ${typeOf(job)}`, about);
    },
  };
}
