/** When a workload is reloaded, and how. */
import { ADOPTED_SYSTEMS } from '@reroll/core/adopted/adopted';
import { MARKER_HASHES } from '@reroll/core/marker/marker-hash';
import { BOTH, options, WORKER } from '../parsing/option.ts';
import { RELOAD_LIMIT, WAVES, WINDOWS } from '../parsing/forms.ts';
import { readLimit } from '@reroll/core/holds/reload-limit';
import { LONGEST_BAKE, readWaves } from '@reroll/core/holds/waves';
import { readWindows } from '@reroll/core/holds/window';
import { bool, boolText, duration, integer, list, oneOf, optionalPath, scalar } from '../parsing/values.ts';

export const reloadOptions = options('Reloading', {
  autoReloadAll: {
    flag: '--auto-reload-all',
    default: 'false',
    apps: BOTH,
    description:
      'Reload every workload when a source that it uses changes, unless its annotations say otherwise.',
    incumbent: true,
    ...bool(),
  },
  reloadStrategy: {
    flag: '--reload-strategy',
    default: 'env-vars',
    apps: BOTH,
    description: 'Marker in the pod template: an environment variable or an annotation.',
    incumbent: true,
    ...oneOf(['env-vars', 'annotations']),
  },
  cronjobStrategy: {
    flag: '--cronjob-strategy',
    default: 'run',
    apps: WORKER,
    description:
      'How to reload a CronJob: `run` creates a Job at once, `patch` only updates its Job template.',
    ...oneOf(['run', 'patch']),
  },
  reloadOnCreate: {
    flag: '--reload-on-create',
    default: 'false',
    apps: BOTH,
    description: 'Also reload when a ConfigMap or Secret is created.',
    incumbent: true,
    ...boolText(),
  },
  reloadOnDelete: {
    flag: '--reload-on-delete',
    default: 'false',
    apps: BOTH,
    description:
      'Also reload when a ConfigMap or Secret is deleted. With env-vars, only if the pod template has its variable.',
    incumbent: true,
    ...boolText(),
  },
  syncAfterRestart: {
    flag: '--sync-after-restart',
    default: 'false',
    apps: BOTH,
    description:
      'With --reload-on-create: treat sources that exist at startup as created, once, for each workload with neither an applied record nor a marker of the current data.',
    incumbent: true,
    ...bool(),
  },
  recreateFinishedJobs: {
    flag: '--recreate-finished-jobs',
    default: 'false',
    apps: BOTH,
    description: 'Run a finished Job again when a source that it uses changes, as stakater/Reloader does.',
    ...bool(),
  },
  debounce: {
    flag: '--debounce',
    default: '500ms',
    apps: BOTH,
    description:
      'Maximum wait for further changes, so that they cause one rollout. It ends when nothing has changed for a fifth of this time, at least 100ms. A source that keeps changing is read once per period. 0: no wait.',
    ...duration({ min: 0 }),
  },
  maxReloadsPerMinute: {
    flag: '--max-reloads-per-minute',
    default: '0',
    apps: WORKER,
    description: 'Maximum reloads per minute, for all workers together. Namespaces take turns. 0: no limit.',
    ...integer({ min: 0 }),
  },
  maxConcurrentRollouts: {
    flag: '--max-concurrent-rollouts',
    default: '0',
    apps: BOTH,
    description:
      'Maximum rollouts of reloaded workloads at once; each counts for at most 10 minutes. Namespaces take turns; if the limit is above 1, one namespace gets at most one less. 0: no limit. Namespace annotation: reroll.dev/max-concurrent-rollouts.',
    ...integer({ min: 0, max: 100_000 }),
  },
  workloadReloadLimit: {
    flag: '--workload-reload-limit',
    default: '10/10m',
    apps: BOTH,
    description:
      'Maximum reloads of one workload per period. Beyond that it waits, longer each time, up to an hour. none: no limit. Annotation: reroll.dev/reload-limit.',
    ...scalar({
      type: 'count/duration',
      expects: 'a limit such as 10/10m (1 to 50 reloads in 1s to 24h), or none',
      read: (text) => (readLimit(text).state === 'unreadable' ? undefined : text),
      pattern: String.raw`^\s*${RELOAD_LIMIT}\s*$`,
    }),
  },
  reloadWindow: {
    flag: '--reload-window',
    default: 'always',
    apps: BOTH,
    description:
      'When workloads may be reloaded; at other times they stay pending. always: at any time. Annotation of a workload or Namespace: reroll.dev/window.',
    ...scalar({
      type: 'windows',
      expects: 'windows such as "Mon-Fri 22:00-04:00 Europe/Berlin", separated by ";", or always',
      read: (text) => (readWindows(text).state === 'unreadable' ? undefined : text),
      pattern: String.raw`^\s*${WINDOWS}\s*$`,
    }),
  },
  requireApproval: {
    flag: '--require-approval',
    default: 'false',
    apps: BOTH,
    description:
      'Reload a workload only after someone has approved what is pending. Annotation of a workload or Namespace: reroll.dev/approval (required or none).',
    ...bool(),
  },
  waves: {
    flag: '--waves',
    default: 'none',
    apps: BOTH,
    description:
      'How many workloads have a change after each wave, e.g. 1,10%,100%. A wave waits until the one before is rolled out. none: all at once. Annotation of a source or Namespace: reroll.dev/waves.',
    ...scalar({
      type: 'count or %,…',
      expects: 'at most 10 numbers or percentages such as 1,10%,100%, or none',
      read: (text) => (readWaves(text).state === 'unreadable' ? undefined : text),
      pattern: String.raw`^\s*${WAVES}\s*$`,
    }),
  },
  bake: {
    flag: '--bake',
    default: '0',
    apps: BOTH,
    description:
      'How long to observe a wave after its rollout, at most 1h. Annotation of a source or Namespace: reroll.dev/bake.',
    ...duration({ min: 0, max: LONGEST_BAKE }),
  },
  dryRun: {
    flag: '--dry-run',
    default: 'false',
    apps: BOTH,
    description: 'Decide and report, but patch nothing.',
    ...bool(),
  },
  adopt: {
    flag: '--adopt',
    default: '',
    apps: BOTH,
    description:
      'Other systems whose annotations are honored: ConfigmapController (fabric8), k8s-trigger-controller (trigger), Wave (wave).',
    ...list({
      type: 'fabric8,trigger,wave',
      expects: "'fabric8', 'trigger' or 'wave', or several of them, separated by commas",
      read: (text) => ADOPTED_SYSTEMS.find((system) => system === text),
    }),
  },
  adoptStale: {
    flag: '--adopt-stale',
    default: 'report',
    apps: WORKER,
    description:
      'What to do with a workload without an applied record that may run with old data, because a source changed while Reroll was not watching: `report` or `reload` it.',
    ...oneOf(['report', 'reload']),
  },
  hash: {
    flag: '--hash',
    default: 'auto',
    apps: BOTH,
    description:
      'Hash in the marker. auto: hmac-sha256 for Secrets if --hash-key-file is set, otherwise sha1, as in stakater/Reloader. hmac-sha256 requires --hash-key-file. Changing this option reloads nothing.',
    ...oneOf(MARKER_HASHES),
  },
  hashKeyFile: {
    flag: '--hash-key-file',
    default: '',
    apps: BOTH,
    description:
      'File with the keys for recorded hashes, one per line. The first key is used for new hashes; the others are still accepted. Unset: plain SHA-256.',
    ...optionalPath('the path of a file of keys'),
  },
});
