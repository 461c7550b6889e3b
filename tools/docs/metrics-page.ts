/** docs/reference/metrics.md, from the registries that the apps serve. */
import { Registry } from 'prom-client';

import { adminMetrics } from '@reroll/shared/platform/metrics/admin';
import { heartbeatErrors, redisMetrics } from '@reroll/shared/platform/metrics/shared';
import { redisRestarts } from '@reroll/shared/platform/metrics/standalone';
import { restClientMetrics } from '@reroll/shared/platform/metrics/rest-client';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { workerMetrics } from '@reroll/shared/platform/metrics/worker';

/** A metric as prom-client keeps it; its types leave out the names of the labels. */
interface Described {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

function described(registry: Registry): Described[] {
  const metrics = registry.getMetricsAsArray() as unknown as (Omit<Described, 'type'> & object)[];
  return metrics
    .map((metric) => ({
      name: metric.name,
      help: metric.help,
      type: metric.constructor.name.toLowerCase(),
      labelNames: metric.labelNames,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The metrics of an app, without those of the process. */
function metricsOf(...fill: readonly ((registry: Registry) => unknown)[]): Described[] {
  const registry = new Registry();
  for (const each of fill) each(registry);
  return described(registry);
}

function row({ name, type, labelNames, help }: Described): string {
  const labels = labelNames.map((label) => `\`${label}\``).join(', ');
  return `| \`${name}\` | ${type} | ${labels} | ${help} |`;
}

function section(title: string, metrics: readonly Described[]): string {
  return [
    `## ${title}`,
    '',
    '| Name | Type | Labels | Meaning |',
    '|---|---|---|---|',
    ...metrics.map(row),
  ].join('\n');
}

const INTRODUCTION = `<!-- Generated from libs/shared/src/platform/metrics: run \`npm run -s docs\`. -->

# Metrics

Served at \`/metrics\` on \`--metrics-addr\`. Names that begin with \`reloader_\` or \`rest_client_\` are those of
stakater/Reloader, so that its dashboards and alerts keep working; ours begin with \`reroll_\`. If the values of a label are
known in advance, each starts at zero. With \`METRICS_COUNT_BY_NAMESPACE\`, the worker also has
\`reloader_reload_executed_total_by_namespace\` (labels \`success\`, \`namespace\`). The label \`_other\` stands for all namespaces without
a series of their own.

Every app also serves \`process_*\` and \`nodejs_*\`. \`nodejs_eventloop_lag_max_seconds\` is the longest turn of the event loop
since the last scrape. It is measured by the delay of a 10 ms timer, which is included; a turn that begins within 10 ms of a scrape is
missed.`;

export function metricsMarkdown(): string {
  const apps = [metricsOf(watcherMetrics), metricsOf(workerMetrics), metricsOf(adminMetrics)];
  const isShared = ({ name }: Described): boolean =>
    apps.every((metrics) => metrics.some((metric) => metric.name === name));
  const [watcher = [], worker = [], admin = []] = apps.map((metrics) =>
    metrics.filter((each) => !isShared(each)),
  );
  const shared = metricsOf(redisMetrics, heartbeatErrors, restClientMetrics);
  return `${[
    INTRODUCTION,
    section('All', shared),
    section('Watcher', watcher),
    section('Worker', worker),
    section('Admin', admin),
    section('Standalone, besides those of the others', metricsOf(redisRestarts)),
  ].join('\n\n')}\n`;
}
