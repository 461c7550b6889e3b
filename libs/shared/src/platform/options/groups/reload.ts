/** When a workload is reloaded, and how. */
import { ADOPTED_SYSTEMS } from '@reroll/core/adopted';
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
    description: 'Reload every workload when what it uses changes, unless its annotations say otherwise.',
    incumbent: true,
    ...bool(),
  }),
  reloadStrategy: option({
    flag: '--reload-strategy',
    env: 'REROLL_RELOAD_STRATEGY',
    default: 'env-vars',
    apps: BOTH,
    group: 'Reloading',
    description: 'What is written into the pod template: an environment variable or an annotation.',
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
      "What a change does to a CronJob: create a Job of it at once, or only write the marker into the Job's template.",
    ...oneOf(['run', 'patch']),
  }),
  reloadOnCreate: option({
    flag: '--reload-on-create',
    env: 'REROLL_RELOAD_ON_CREATE',
    default: 'false',
    apps: BOTH,
    group: 'Reloading',
    description: 'Reload also when a ConfigMap or Secret comes to exist that was not there before.',
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
      'Reload also when a ConfigMap or Secret is deleted; under the env-vars strategy only where its variable is.',
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
      'With --reload-on-create: what exists at the start counts as created, once, for each workload that has neither a record nor the marker of it.',
    incumbent: true,
    ...bool(),
  }),
  recreateFinishedJobs: option({
    flag: '--recreate-finished-jobs',
    env: 'REROLL_RECREATE_FINISHED_JOBS',
    default: 'false',
    apps: BOTH,
    group: 'Reloading',
    description: 'Run a Job that is finished again when what it uses changes, as stakater/Reloader does.',
    ...bool(),
  }),
  debounce: option({
    flag: '--debounce',
    env: 'REROLL_DEBOUNCE',
    default: '500ms',
    apps: BOTH,
    group: 'Reloading',
    description:
      'How long a workload waits after the first change for others, so that they become one rollout. A source that keeps changing is read once in that time. 0: not at all.',
    ...duration({ min: 0 }),
  }),
  maxReloadsPerMinute: option({
    flag: '--max-reloads-per-minute',
    env: 'REROLL_MAX_RELOADS_PER_MINUTE',
    default: '0',
    apps: WORKER,
    group: 'Reloading',
    description:
      'At most so many workloads are reloaded in a minute, by all workers together, in turns between namespaces. 0: no limit.',
    ...integer({ min: 0 }),
  }),
  dryRun: option({
    flag: '--dry-run',
    env: 'REROLL_DRY_RUN',
    default: 'false',
    apps: WORKER,
    group: 'Reloading',
    description: 'Decide and report, patch nothing.',
    ...bool(),
  }),
  adopt: option({
    flag: '--adopt',
    env: 'REROLL_ADOPT',
    default: '',
    apps: BOTH,
    group: 'Reloading',
    description:
      'Other systems whose annotations work as they stand: ConfigmapController (fabric8), k8s-trigger-controller (trigger), Wave (wave).',
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
      'A workload that was never recorded and whose ConfigMap or Secret changed in a gap may run old data: only report it, or reload it.',
    ...oneOf(['report', 'reload']),
  }),
  hash: option({
    flag: '--hash',
    env: 'REROLL_HASH',
    default: 'auto',
    apps: WORKER,
    group: 'Reloading',
    description:
      'Hash in the marker in the pod template. auto: hmac-sha256 for Secrets if there is a --hash-key-file, sha1 for everything else. sha1 is that of stakater/Reloader; hmac-sha256 needs --hash-key-file. To change it reloads nothing.',
    ...oneOf(MARKER_HASHES),
  }),
  hashKeyFile: option({
    flag: '--hash-key-file',
    env: 'REROLL_HASH_KEY_FILE',
    default: '',
    apps: BOTH,
    group: 'Reloading',
    description:
      'File with the keys of the hashes that Reroll records, one a line: the first is used, the others are still accepted. Unset: hashes without a key (plain SHA-256).',
    ...optionalPath('the path of a file of keys'),
  }),
} as const;
