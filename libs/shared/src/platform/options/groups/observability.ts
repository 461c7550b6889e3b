/** What a process shows to the outside, and how it shuts down. */
import { ALL, option, WATCHER, WORKER } from '../parsing/option.ts';
import type { ValueKind } from '../parsing/option.ts';
import { bool, duration, enabledOrBool, listenAddress, oneOf } from '../parsing/values.ts';
import { LOG_LEVELS } from '../../logging/logging.ts';
import type { LogFormat, LogLevel } from '../../logging/logging.ts';
import { z } from 'zod';

/** '' is text, as in stakater/Reloader. */
function logFormat(): ValueKind<LogFormat> {
  const words = oneOf(['', 'text', 'json']);
  return {
    ...words,
    type: 'text | json',
    expects: 'text or json',
    schema: words.schema.pipe(z.transform((format) => (format === 'json' ? 'json' : 'text'))),
  };
}

/** Ignores case; `warn` is `warning`. */
function logLevel(): ValueKind<LogLevel> {
  const levels = oneOf(LOG_LEVELS);
  const normalised = z.string().transform((text) => text.toLowerCase().replace(/^warn$/u, 'warning'));
  return { ...levels, schema: normalised.pipe(levels.schema as z.ZodType<LogLevel, string>) };
}

export const observabilityOptions = {
  logFormat: option({
    flag: '--log-format',
    env: 'REROLL_LOG_FORMAT',
    default: 'text',
    apps: ALL,
    group: 'Observability and lifecycle',
    description: 'Format of the log, which is written to standard error.',
    incumbent: true,
    ...logFormat(),
  }),
  logLevel: option({
    flag: '--log-level',
    env: 'REROLL_LOG_LEVEL',
    default: 'info',
    apps: ALL,
    group: 'Observability and lifecycle',
    description: 'Minimum level of the messages that are logged.',
    incumbent: true,
    ...logLevel(),
  }),
  metricsAddr: option({
    flag: '--metrics-addr',
    env: 'REROLL_METRICS_ADDR',
    default: ':9090',
    apps: ALL,
    group: 'Observability and lifecycle',
    description: 'Address of /metrics, /live, /ready and /healthz. Port 0 selects a free port.',
    ...listenAddress(),
  }),
  metricsCountByNamespace: option({
    flag: '--metrics-count-by-namespace',
    env: 'METRICS_COUNT_BY_NAMESPACE',
    default: 'false',
    apps: WORKER,
    group: 'Observability and lifecycle',
    description:
      'Also serve reloader_reload_executed_total_by_namespace, with one series for each namespace and result. `enabled` means true.',
    ...enabledOrBool(),
  }),
  rolloutDetails: option({
    flag: '--rollout-details',
    env: 'REROLL_ROLLOUT_DETAILS',
    default: 'false',
    apps: WATCHER,
    group: 'Observability and lifecycle',
    description:
      'Keep the messages of the conditions of rollouts that are in progress or stuck (at most 300 characters each), and find out why pods of stuck rollouts do not run (at most five pods).',
    ...bool(),
  }),
  enablePprof: option({
    flag: '--enable-pprof',
    env: 'REROLL_ENABLE_PPROF',
    default: 'false',
    apps: ALL,
    group: 'Observability and lifecycle',
    description: 'Serve CPU profiles and sampled heap profiles at --pprof-addr.',
    incumbent: true,
    ...bool(),
  }),
  pprofAddr: option({
    flag: '--pprof-addr',
    env: 'REROLL_PPROF_ADDR',
    default: ':6060',
    apps: ALL,
    group: 'Observability and lifecycle',
    description:
      'Address of /debug/pprof/profile and /debug/pprof/heap (?seconds=1 to 120), which have no authentication. Port 0 selects a free port.',
    incumbent: true,
    ...listenAddress(),
  }),
  shutdownTimeout: option({
    flag: '--shutdown-timeout',
    env: 'REROLL_SHUTDOWN_TIMEOUT',
    default: '25s',
    apps: ALL,
    group: 'Observability and lifecycle',
    description:
      'Maximum duration of an orderly shutdown, including jobs in progress. Keep it below terminationGracePeriodSeconds (30 s).',
    ...duration({ min: 100, max: 3_600_000 }),
  }),
} as const;
