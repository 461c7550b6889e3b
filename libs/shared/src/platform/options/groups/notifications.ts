/** Notifications of changes and reloads: alerts and the webhook. */
import { z } from 'zod';
import type { AlertSink } from '@reroll/core/notify/message';
import { BOTH, options, WORKER } from '../parsing/option.ts';
import type { ValueKind } from '../parsing/option.ts';
import { anyText, bool, duration, integer, oneOf, optionalHttpUrl } from '../parsing/values.ts';

const SINKS = new Set<string>(['slack', 'teams', 'gchat']);

/** Ignores case and surrounding blanks. An unknown sink is `raw`, as in stakater/Reloader. */
function alertSink(): ValueKind<AlertSink> {
  const schema = z.string().transform((given): AlertSink => {
    const name = given.trim().toLowerCase();
    return SINKS.has(name) ? (name as AlertSink) : 'raw';
  });
  return { form: 'value', type: 'slack | teams | gchat | webhook', expects: 'the name of a sink', schema };
}

export const notificationOptions = options('Alerts and webhook', {
  alertOnReload: {
    flag: '--alert-on-reload',
    env: 'ALERT_ON_RELOAD',
    default: 'false',
    apps: WORKER,
    description: 'Send an alert for each reload.',
    ...bool(),
  },
  alertSink: {
    flag: '--alert-sink',
    env: 'ALERT_SINK',
    default: 'webhook',
    apps: WORKER,
    description: 'Format of alerts: that of a chat service, or plain text (webhook, or any other word).',
    ...alertSink(),
  },
  alertWebhookUrl: {
    flag: '--alert-webhook-url',
    env: 'ALERT_WEBHOOK_URL',
    default: '',
    apps: WORKER,
    description:
      'URL for alerts; required with --alert-on-reload. It is a credential: use the environment variable.',
    sensitive: true,
    ...optionalHttpUrl(),
  },
  alertWebhookProxy: {
    flag: '--alert-webhook-proxy',
    env: 'ALERT_WEBHOOK_PROXY',
    default: '',
    apps: WORKER,
    description: 'HTTP proxy for alerts. HTTP_PROXY is not used.',
    sensitive: true,
    ...optionalHttpUrl(),
  },
  alertAdditionalInfo: {
    flag: '--alert-additional-info',
    env: 'ALERT_ADDITIONAL_INFO',
    default: '',
    apps: WORKER,
    description: 'Text at the start of each alert.',
    ...anyText('any text'),
  },
  alertGrouping: {
    flag: '--alert-grouping',
    env: 'ALERT_GROUPING',
    default: 'workload',
    apps: WORKER,
    description:
      'One alert for each workload and source, as in stakater/Reloader (`workload`), or for each change, with all workloads reloaded within --alert-window (`change`).',
    ...oneOf(['workload', 'change']),
  },
  alertWindow: {
    flag: '--alert-window',
    env: 'ALERT_WINDOW',
    default: '10s',
    apps: WORKER,
    description: 'With --alert-grouping=change: how long to collect workloads after the first one.',
    ...duration({ min: 0, max: 3_600_000 }),
  },
  webhookUrl: {
    flag: '--webhook-url',
    default: '',
    apps: BOTH,
    description:
      'POST every change of a watched ConfigMap or Secret to this URL, regardless of annotations, and reload nothing. Watcher and worker need the same value.',
    incumbent: true,
    sensitive: true,
    ...optionalHttpUrl(),
  },
  webhookBody: {
    flag: '--webhook-body',
    default: 'change',
    apps: WORKER,
    description:
      'Request body: event, kind, namespace and name (`change`), or the text of stakater/Reloader (`legacy`).',
    ...oneOf(['change', 'legacy']),
  },
  notificationAttempts: {
    flag: '--notification-attempts',
    default: '10',
    apps: WORKER,
    description:
      'Maximum attempts to send an alert or webhook request. The pause between them starts at --backoff and doubles.',
    ...integer({ min: 1, max: 100 }),
  },
  notificationTimeout: {
    flag: '--notification-timeout',
    default: '10s',
    apps: WORKER,
    description: 'Timeout of one attempt to send an alert or webhook request.',
    ...duration({ min: 1, max: 300_000 }),
  },
});
