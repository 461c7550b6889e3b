/** What a process shows to the outside, and how it shuts down. */
import { ALL, options, WATCHER, WORKER } from '../parsing/option.ts';
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
  const normalized = z.string().transform((text) => text.toLowerCase().replace(/^warn$/u, 'warning'));
  return { ...levels, schema: normalized.pipe(levels.schema as z.ZodType<LogLevel, string>) };
}

export const observabilityOptions = options('Observability and lifecycle', {
  logFormat: {
    flag: '--log-format',
    default: 'text',
    apps: ALL,
    description: 'Format of the log, which goes to standard error.',
    incumbent: true,
    ...logFormat(),
  },
  logLevel: {
    flag: '--log-level',
    default: 'info',
    apps: ALL,
    description: 'Minimum level of logged messages.',
    incumbent: true,
    ...logLevel(),
  },
  metricsAddr: {
    flag: '--metrics-addr',
    default: ':9090',
    apps: ALL,
    description: 'Address of /metrics, /live, /ready and /healthz. Port 0 selects a free port.',
    ...listenAddress(),
  },
  metricsCountByNamespace: {
    flag: '--metrics-count-by-namespace',
    env: 'METRICS_COUNT_BY_NAMESPACE',
    default: 'false',
    apps: WORKER,
    description:
      'Also serve reloader_reload_executed_total_by_namespace, a series for each result and each of the first 1,000 namespaces; others are counted as _other. `enabled` means true.',
    ...enabledOrBool(),
  },
  rolloutDetails: {
    flag: '--rollout-details',
    default: 'false',
    apps: WATCHER,
    description:
      'Keep the condition messages of rollouts in progress or stuck (at most 300 characters each), and find out why pods of stuck rollouts do not run (at most five pods).',
    ...bool(),
  },
  enablePprof: {
    flag: '--enable-pprof',
    default: 'false',
    apps: ALL,
    description: 'Serve CPU and sampled heap profiles at --pprof-addr.',
    incumbent: true,
    ...bool(),
  },
  pprofAddr: {
    flag: '--pprof-addr',
    default: ':6060',
    apps: ALL,
    description:
      'Address of /debug/pprof/profile and /debug/pprof/heap (?seconds=1 to 120), without authentication. Port 0 selects a free port.',
    incumbent: true,
    ...listenAddress(),
  },
  shutdownTimeout: {
    flag: '--shutdown-timeout',
    default: '25s',
    apps: ALL,
    description:
      'Maximum duration of a shutdown, including running jobs. Keep it below terminationGracePeriodSeconds (30 s).',
    ...duration({ min: 100, max: 3_600_000 }),
  },
});
