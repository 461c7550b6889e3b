/**
 * Why something was or was not done. The list is closed: everything that is logged, counted, recorded or
 * returned by the API carries one of these codes, and `docs/reference/reasons.md` is generated from it. A code, once
 * released, keeps its meaning.
 */
export const REASONS = {
  WorkloadKindIgnored: 'Workloads of this kind are never reloaded (`--ignored-workload-types`).',
  SourceTypeIgnored: 'Sources of this kind are not watched (`--resources-to-ignore`).',
  SourceIgnored: 'The source has the annotation `reloader.stakater.com/ignore: "true"`.',
  SourceExcluded: 'The workload excludes this source by name.',
  NamedByAnnotation: "A reload annotation of the workload matches the source's name.",
  SearchMatch: 'The workload has the `search` annotation and the source the `match` annotation.',
  AutoReload: 'The workload reloads for every source that it uses, or every one of this kind (`auto`).',
  AutoReloadAll:
    'All workloads reload for every source that they use (`--auto-reload-all`), and this one has not opted out.',
  AdoptedAnnotation:
    'An annotation of another system, enabled by `--adopt`, asks for a reload when this source changes.',
  Requested: 'A user requested a reload.',
  NotAnnotated: 'No annotation of the workload asks for a reload when this source changes.',
  InvalidPattern: 'A reload annotation has an invalid pattern, and nothing else asks for a reload.',
  InvalidAnnotation:
    "The workload's reload annotations, pod template or dependencies exceed a limit, such as `--max-list-words`. It is not reloaded until this is fixed.",
  NoContainer: 'The annotations allow a reload, but no container uses the source, or there is no container.',
  Reloaded: 'The workload was patched so that its pods are replaced.',
  ReloadedAwaitingDeletion:
    'The workload was patched, but with the update strategy OnDelete each pod keeps the old data until it is deleted.',
  JobCreated: 'A Job with the current data was created from the CronJob.',
  CronJobSuspended:
    'The CronJob is suspended, so no Job was created. Its next run picks up the current data.',
  JobRecreated: 'The Job was deleted and created again under the same name, with the current data.',
  JobFinished: 'The Job has finished and is not run again, except with `--recreate-finished-jobs`.',
  JobOfCronJob: 'The Job belongs to a CronJob, whose next run picks up the current data.',
  JobTwin: 'This is a pending Job: the suspended copy that protects a Job while it is recreated.',
  WorkloadRefAnnotated:
    "The Rollout's pod template is that of a Deployment (`spec.workloadRef`) with reload annotations of its own. Reloading the Deployment also rolls out the Rollout.",
  WorkloadRefMissing: "The Deployment in the Rollout's `spec.workloadRef` does not exist.",
  WorkloadRefUnsupported:
    "The Rollout's `spec.workloadRef` does not name a Deployment, which is the only supported kind.",
  TooManyRollouts:
    "Ten other Rollouts already refer to the Deployment in the Rollout's `spec.workloadRef`, which is the limit. The Rollout is not evaluated until one of them is deleted or refers to another Deployment.",
  RecreationFinished:
    'An earlier reload job had stopped halfway through recreating this Job. The recreation was completed.',
  ReloadedPaused:
    'The Deployment was patched, but its rollout is paused: for its pause period, or because it already was.',
  ReloadedWithoutPause:
    'The workload was patched and rolls out at once, because its pause period is invalid (see its Events).',
  Paused: 'The rollout is paused until the pause period is over.',
  Contested:
    'Another controller removed the marker three times within ten minutes. The workload is not reloaded until its pod template or reload annotations change, or `reroll.dev/release` gets another value.',
  AnnotationsFull:
    'The annotations of the workload or its pod template have no room for what a reload writes: Kubernetes allows 262,144 bytes of keys and values, and Reroll leaves 4,096 of them free. The workload is evaluated again when its annotations change.',
  RecordTooLarge:
    'The applied record would exceed 131,072 bytes. The workload is not reloaded until it depends on fewer sources.',
  Frozen:
    "Reloads are frozen (`reroll.dev/freeze` on the workload or Namespace, or `reroll.dev/freeze-all` on Reroll's Namespace). The workload is reloaded once when the freeze ends.",
  OutsideWindow:
    'The workload is reloaded only in its windows (`reroll.dev/window`): once, when the next one opens.',
  AwaitsApproval:
    'The workload waits until someone approves what is pending (`reroll.dev/approval: required`).',
  TooOften:
    'The workload reached its reload limit (`--workload-reload-limit`, `reroll.dev/reload-limit`). It is reloaded later, with the current data.',
  AwaitsWave:
    'The workload waits until earlier waves are rolled out and their bake time is over (`reroll.dev/waves` on the source or its Namespace, `--waves`).',
  WaveHalted:
    'A workload that has the change failed to roll out. The change continues when that workload recovers, the data changes again, or after `kubectl reroll resume`.',
  AwaitsRollouts:
    'Too many rollouts are in progress (`--max-concurrent-rollouts`, or `reroll.dev/max-concurrent-rollouts` on the Namespace). The workload is reloaded when its turn comes.',
  WouldReload: 'Dry run: the workload would have been patched.',
  RequestDone: 'An earlier, interrupted attempt has already replaced the pods for this request.',
  InStep: 'According to the applied record, the pods were started with the current data.',
  SourceAbsent: 'The source does not exist.',
  SourceNotWatched:
    'The source is not watched, because of its type (`--secret-types-to-ignore`) or its labels (`--resource-label-selector`).',
  BroughtByOwner:
    'A rollout by someone else already picked up the data. Only the applied record was updated.',
  Adopted: 'The workload had no applied record of the source. It was recorded without a reload.',
  StaleAtAdoption:
    'The workload was recorded without a reload, although its pods may have older data. `--adopt-stale=reload` reloads such workloads.',
  RecordRewritten:
    'The applied record matched, but used an older hash scheme. It was rewritten, without a reload.',
  KeyUnknown:
    'This worker lacks the key (`--hash-key-file`) of the applied record, so it cannot tell whether the data changed. For ten minutes it leaves the workload to workers that have the key; then it compares the times of the writes.',
  QueuePaused: 'A user paused a job queue. Pending workloads are reloaded when it is resumed.',
  CatalogBehind:
    'The worker read newer data than the watcher has seen, and did nothing. The watcher enqueues the workload again when it sees the change.',
  RecordShared:
    'The pods have the data. The record stays as it is, because another Rollout of the same Deployment shares it and has a reload pending.',
  WorkloadGone: 'The workload no longer exists, or is a Job that is being deleted.',
  RateLimited: 'The maximum number of reloads per minute is reached. The reload waits for its turn.',
  Conflicting: 'The workload kept changing while it was being patched. The reload is retried.',
  Invalid:
    'The API server rejected the patched workload as invalid. The reload is retried with increasing back-off.',
  Forbidden: 'RBAC, an admission policy or a webhook does not let Reroll read or write the object.',
  ApiUnavailable: 'The API server could not be reached or returned an error. The reload is retried.',
  NotDelivered: 'The receiver of an alert or webhook was not reachable or did not accept it. It is retried.',
  NotifiedInstead: 'Changes are sent to `--webhook-url`, and nothing is reloaded.',
  InvalidJob: 'A job in the queue could not be read.',
  Failed: "The reload failed for another reason; the worker's log has the error code.",
} as const;

export type Reason = keyof typeof REASONS;

/** `docs/reference/reasons.md`, whole. */
export function reasonsMarkdown(): string {
  const rows = Object.entries(REASONS).map(([code, meaning]) => `| \`${code}\` | ${escapeCell(meaning)} |`);
  return [
    '# Reasons',
    '',
    'Why a workload was, or was not, reloaded. The codes appear in logs, metrics, Events, the history and the API.',
    '',
    '<!-- Generated from libs/core/src/reasons.ts by `npm run -s docs`. Do not edit. -->',
    '',
    '| Code | Meaning |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
