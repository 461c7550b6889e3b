/** docs/reference/metrics.md, from the registries that the apps serve. */
import { Registry } from 'prom-client';

import { adminMetrics } from '@reroll/shared/platform/metrics/admin';
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
stakater/Reloader, so that its dashboards and alerts go on working; ours begin with \`reroll_\`. Labels whose
values are known in advance are there at zero from the start. Every app serves the metrics of its process as
well (\`process_*\`, \`nodejs_*\`). \`nodejs_eventloop_lag_max_seconds\` is the longest turn of its event loop since the last
scrape, measured by how late a timer of 10 ms came, which is included; a turn that begins within 10 ms of a scrape is missed. With \`METRICS_COUNT_BY_NAMESPACE\` the worker has
\`reloader_reload_executed_total_by_namespace\` (labels \`success\`, \`namespace\`) too.`;

export function metricsMarkdown(): string {
  const all = metricsOf(restClientMetrics);
  return `${[
    INTRODUCTION,
    section('Watcher', metricsOf(watcherMetrics)),
    section('Worker', metricsOf(workerMetrics)),
    section('Admin', metricsOf(adminMetrics)),
    section('Standalone, besides those of the three', metricsOf(redisRestarts)),
    section('All', all),
  ].join('\n\n')}\n`;
}
