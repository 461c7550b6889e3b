/** When a workload is reloaded, and how. */
import { ADOPTED_SYSTEMS } from '@reroll/core/adopted/adopted';
import { MARKER_HASHES } from '@reroll/core/marker/marker-hash';
import { BOTH, option, WORKER } from '../parsing/option.ts';
import { bool, boolText, duration, integer, list, oneOf, optionalPath } from '../parsing/values.ts';

export const reloadOptions = {
  autoReloadAll: option({
    flag: '--auto-reload-all',
    env: 'REROLL_AUTO_RELOAD_ALL',
    default: 'false',
    apps: BOTH,
    group: 'Reloading',
    description:
      'Reload every workload when a source that it uses changes, unless its annotations say otherwise.',
    incumbent: true,
    ...bool(),
  }),
  reloadStrategy: option({
    flag: '--reload-strategy',
    env: 'REROLL_RELOAD_STRATEGY',
    default: 'env-vars',
    apps: BOTH,
    group: 'Reloading',
    description: 'What a reload writes into the pod template: an environment variable or an annotation.',
    incumbent: true,
    ...oneOf(['env-vars', 'annotations']),
  }),
  cronjobStrategy: option({
    flag: '--cronjob-strategy',
    env: 'REROLL_CRONJOB_STRATEGY',
    default: 'run',
    apps: WORKER,
    group: 'Reloading',
    description:
      'How to reload a CronJob: `run` creates a Job from it at once, `patch` only updates its Job template.',
    ...oneOf(['run', 'patch']),
  }),
  reloadOnCreate: option({
    flag: '--reload-on-create',
    env: 'REROLL_RELOAD_ON_CREATE',
    default: 'false',
    apps: BOTH,
    group: 'Reloading',
    description: 'Also reload when a ConfigMap or Secret is created.',
    incumbent: true,
    ...boolText(),
  }),
  reloadOnDelete: option({
    flag: '--reload-on-delete',
    env: 'REROLL_RELOAD_ON_DELETE',
    default: 'false',
    apps: BOTH,
    group: 'Reloading',
    description:
      'Also reload when a ConfigMap or Secret is deleted. With the env-vars strategy, only pod templates that have its variable are reloaded.',
    incumbent: true,
    ...boolText(),
  }),
  syncAfterRestart: option({
    flag: '--sync-after-restart',
    env: 'REROLL_SYNC_AFTER_RESTART',
    default: 'false',
    apps: BOTH,
    group: 'Reloading',
    description:
      'With --reload-on-create: treat sources that exist at startup as created, once, for each workload that has neither an applied record nor a marker of them.',
    incumbent: true,
    ...bool(),
  }),
  recreateFinishedJobs: option({
    flag: '--recreate-finished-jobs',
    env: 'REROLL_RECREATE_FINISHED_JOBS',
    default: 'false',
    apps: BOTH,
    group: 'Reloading',
    description: 'Run a finished Job again when a source that it uses changes, as stakater/Reloader does.',
    ...bool(),
  }),
  debounce: option({
    flag: '--debounce',
    env: 'REROLL_DEBOUNCE',
    default: '500ms',
    apps: BOTH,
    group: 'Reloading',
    description:
      'How long to wait after a change for further changes, so that they cause a single rollout. A source that keeps changing is read once per period. 0 disables the wait.',
    ...duration({ min: 0 }),
  }),
  maxReloadsPerMinute: option({
    flag: '--max-reloads-per-minute',
    env: 'REROLL_MAX_RELOADS_PER_MINUTE',
    default: '0',
    apps: WORKER,
    group: 'Reloading',
    description:
      'Maximum number of reloads per minute, for all workers together. Namespaces take turns. 0: no limit.',
    ...integer({ min: 0 }),
  }),
  dryRun: option({
    flag: '--dry-run',
    env: 'REROLL_DRY_RUN',
    default: 'false',
    apps: WORKER,
    group: 'Reloading',
    description: 'Decide and report, but patch nothing.',
    ...bool(),
  }),
  adopt: option({
    flag: '--adopt',
    env: 'REROLL_ADOPT',
    default: '',
    apps: BOTH,
    group: 'Reloading',
    description:
      'Other systems whose annotations are honored: ConfigmapController (fabric8), k8s-trigger-controller (trigger), Wave (wave).',
    ...list({
      type: 'fabric8,trigger,wave',
      expects: "'fabric8', 'trigger' or 'wave', or several of them, separated by commas",
      read: (text) => ADOPTED_SYSTEMS.find((system) => system === text),
    }),
  }),
  adoptStale: option({
    flag: '--adopt-stale',
    env: 'REROLL_ADOPT_STALE',
    default: 'report',
    apps: WORKER,
    group: 'Reloading',
    description:
      'What to do with a workload without an applied record that may run with old data, because its ConfigMap or Secret changed while Reroll was not watching: `report` it, or `reload` it.',
    ...oneOf(['report', 'reload']),
  }),
  hash: option({
    flag: '--hash',
    env: 'REROLL_HASH',
    default: 'auto',
    apps: WORKER,
    group: 'Reloading',
    description:
      'Hash in the marker of the pod template. auto: hmac-sha256 for Secrets if --hash-key-file is set, otherwise sha1. sha1 is what stakater/Reloader writes; hmac-sha256 requires --hash-key-file. Changing this option reloads nothing.',
    ...oneOf(MARKER_HASHES),
  }),
  hashKeyFile: option({
    flag: '--hash-key-file',
    env: 'REROLL_HASH_KEY_FILE',
    default: '',
    apps: BOTH,
    group: 'Reloading',
    description:
      'File with the keys for recorded hashes, one per line. The first key is used for new hashes; the others are still accepted. Unset: plain SHA-256.',
    ...optionalPath('the path of a file of keys'),
  }),
} as const;
