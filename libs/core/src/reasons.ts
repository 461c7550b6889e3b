/**
 * Why something was or was not done. The list is closed: everything that is logged, counted, recorded or
 * returned by the API carries one of these codes, and `docs/reference/reasons.md` is generated from it. A code, once
 * released, keeps its meaning.
 */
export const REASONS = {
  WorkloadKindIgnored: 'Workloads of this kind are never reloaded (`--ignored-workload-types`).',
  SourceTypeIgnored: 'Sources of this kind are not watched (`--resources-to-ignore`).',
  SourceIgnored: 'The source is annotated to be ignored (`reloader.stakater.com/ignore: "true"`).',
  SourceExcluded: 'The workload excludes this source by name.',
  NamedByAnnotation:
    "A pattern in the workload's reload annotation for this kind of source matches the source's name.",
  SearchMatch: 'The workload has the `search` annotation and the source has the `match` annotation.',
  AutoReload: 'The workload reloads for every source that it uses (`auto`, in general or for this kind).',
  AutoReloadAll:
    'Workloads reload for every source that they use (`--auto-reload-all`), and this one has not opted out.',
  AdoptedAnnotation:
    'An annotation of another system, enabled by `--adopt`, asks for a reload when this source changes.',
  Requested: 'A user requested a reload.',
  NotAnnotated: 'No annotation of the workload asks for a reload when this source changes.',
  InvalidPattern:
    "A pattern in the workload's reload annotation is invalid, and nothing else asks for a reload.",
  InvalidAnnotation:
    'The reload annotations or the pod template of the workload exceed a limit (`--max-list-words` and others). The workload is not reloaded until this is fixed.',
  NoContainer:
    'The annotations allow a reload, but no container in the pod template uses the source, or there is no container.',
  Reloaded: 'The workload was patched so that its pods are replaced.',
  ReloadedAwaitingDeletion:
    'The workload was patched, but its update strategy is OnDelete: each pod keeps the old data until it is deleted.',
  JobCreated: "A Job with the current data was created from the CronJob's template.",
  CronJobSuspended:
    'The CronJob is suspended, so no Job was created. The next run picks up the current data.',
  JobRecreated: 'The Job was deleted and created again under the same name, with the current data.',
  JobFinished: 'The Job has finished and is not run again. Use `--recreate-finished-jobs` to change this.',
  JobOfCronJob: 'The Job belongs to a CronJob, whose next run picks up the current data.',
  JobTwin: 'This is a pending Job: the suspended copy that protects another Job while that one is recreated.',
  WorkloadRefAnnotated:
    'The Rollout takes its pod template from a Deployment (`spec.workloadRef`) that has reload annotations of its own. Reloading the Deployment also rolls out the Rollout.',
  WorkloadRefMissing:
    'The Deployment from which the Rollout takes its pod template (`spec.workloadRef`) does not exist.',
  WorkloadRefUnsupported:
    'The Rollout takes its pod template from an object that is not supported: `spec.workloadRef` must name a Deployment.',
  RecreationFinished:
    'Another worker had stopped halfway through recreating this Job. The recreation was completed.',
  ReloadedPaused:
    'The Deployment was patched, but its rollout is paused: for its pause period, or because it was paused before.',
  ReloadedWithoutPause:
    'The workload was patched and rolls out at once, because its pause period is invalid (an Event says why).',
  Paused: 'The rollout is paused until the pause period is over.',
  Contested:
    'Another controller removed the marker three times within ten minutes. The workload is not reloaded until its pod template or its annotations change, or its annotation `reroll.dev/release` gets another value.',
  AnnotationsFull:
    'The annotations of the workload or of its pod template have no room for what a reload writes. Kubernetes allows 262,144 bytes of keys and values; Reroll leaves 4,096 of them free. The workload is evaluated again when its annotations change.',
  RecordTooLarge:
    'The applied record of the workload would exceed 131,072 bytes because the workload depends on too many sources. It is not reloaded until it depends on fewer.',
  Frozen:
    'Reloads are frozen (`reroll.dev/freeze` on the workload or its Namespace, or `reroll.dev/freeze-all` on the Namespace of the installation). The workload is reloaded once when the freeze ends.',
  OutsideWindow:
    'The workload is reloaded only in its windows (`reroll.dev/window`). It is reloaded once when the next one opens.',
  AwaitsApproval:
    'Reloads of the workload need an approval (`reroll.dev/approval: required`). It waits until what is pending is approved.',
  TooOften:
    'The workload was reloaded as often as its limit allows (`--workload-reload-limit`, `reroll.dev/reload-limit`). It is reloaded later, with the data of that time.',
  AwaitsWave:
    'The change reaches its workloads in waves (`reroll.dev/waves` on the source or its Namespace, `--waves`). The workload is reloaded when the earlier waves are rolled out and were observed for the bake time.',
  WaveHalted:
    'A workload that already has the change failed to roll out, so the change goes no further. It goes on when that workload recovers, when the data changes again, or by `kubectl reroll resume`.',
  AwaitsRollouts:
    'The limit of rollouts at once is reached (`--max-concurrent-rollouts`, or `reroll.dev/max-concurrent-rollouts` on the Namespace). The workload is reloaded when its turn comes.',
  WouldReload: 'Dry run: the workload would have been patched.',
  RequestDone: 'The pods were already replaced for this request, by an earlier attempt that was interrupted.',
  InStep: 'According to the applied record, the pods were started with the current data.',
  SourceAbsent: 'The source does not exist.',
  SourceNotWatched:
    'The source exists but is not watched, so its changes are not seen: its type is in `--secret-types-to-ignore`, or it lacks the labels of `--resource-label-selector`.',
  BroughtByOwner:
    'A rollout that someone else started after the change already picked up the data. Only the applied record was updated.',
  Adopted: 'The workload had no applied record of the source. It was recorded without being reloaded.',
  StaleAtAdoption:
    'The workload was recorded without being reloaded, although its pods may not have the current data (`--adopt-stale=reload` reloads such workloads).',
  RecordRewritten:
    'The applied record used an older hash scheme and matched. It was rewritten; nothing was reloaded.',
  KeyUnknown:
    'The applied record was hashed with a key (`--hash-key-file`) that this worker does not have, so it cannot tell whether the data changed. For ten minutes it leaves the workload to a worker that has the key; after that it compares the times of the writes.',
  QueuePaused:
    'A user paused a job queue. Nothing is lost: pending workloads are reloaded when the queue is resumed.',
  CatalogBehind:
    'The worker read data that the watcher has not seen yet. Nothing was done; the watcher enqueues the workload again when it sees the change.',
  WorkloadGone: 'The workload no longer exists.',
  RateLimited: 'The maximum number of reloads per minute is reached. The reload waits for its turn.',
  Conflicting: 'The workload kept changing while it was being patched. The reload is retried later.',
  Invalid:
    'The API server rejected the patched workload as invalid. The reload is retried with increasing back-off.',
  Forbidden:
    'Reroll is not allowed to read or write the object: RBAC, an admission policy or a webhook denied it.',
  ApiUnavailable: 'The API server could not be reached or returned an error. The reload is retried.',
  NotDelivered:
    'The receiver of an alert or webhook could not be reached or did not accept it. It is retried.',
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
    'Why a workload was, or was not, reloaded. The same codes appear in logs, metrics, events, the history and',
    'the answers of the API.',
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
