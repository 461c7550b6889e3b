/**
 * Why something was, or was not, done. The catalogue is closed: whatever is logged, counted, recorded or
 * answered carries one of these codes, and `docs/reference/reasons.md` is generated from it. A code, once
 * released, keeps its meaning.
 */
export const REASONS = {
  WorkloadKindIgnored: 'Workloads of this kind are left alone (`--ignored-workload-types`).',
  SourceTypeIgnored: 'Sources of this kind are not watched (`--resources-to-ignore`).',
  SourceIgnored:
    'The source says that nothing reloads for it (`reloader.stakater.com/ignore: "true"` on it).',
  SourceExcluded: 'The workload lists the source by name as one that it never reloads for.',
  NamedByAnnotation:
    "A pattern in the workload's reload annotation for this kind of source matches the source's name.",
  SearchMatch:
    'The workload searches for matching sources, and the source is marked as one (`search` and `match`).',
  AutoReload: 'The workload reloads for every source that it uses (`auto`, in general or for this kind).',
  AutoReloadAll:
    'Every workload that does not say otherwise reloads for what it uses (`--auto-reload-all`), and this one does not.',
  AdoptedAnnotation:
    'An annotation of another system, which `--adopt` takes over, asks for a reload when this source changes.',
  Requested: 'A person asked for a reload.',
  NotAnnotated: 'No annotation of the workload asks for a reload when this source changes.',
  InvalidPattern:
    "A pattern in the workload's reload annotation cannot be used, and nothing else asks for a reload.",
  InvalidAnnotation:
    'The reload annotations or the pod template of the workload exceed a limit (`--max-list-words` and others). It is left alone until that is mended.',
  NoContainer:
    'The annotations allow a reload, but no container of the pod template uses the source, or there is no container.',
  Reloaded: 'The workload was patched, so that its pods are replaced.',
  ReloadedAwaitingDeletion:
    'The workload was patched, but its update strategy is OnDelete: each pod keeps the old data until somebody deletes it.',
  JobCreated: "A Job was created from the CronJob's template, with the data of now.",
  CronJobSuspended:
    'The CronJob is suspended, so no Job was created. It was recorded: its next run reads the data of then.',
  JobRecreated: 'The Job was deleted and created again under its name, with the data of now.',
  JobFinished: 'The Job is finished, so it is not run again (`--recreate-finished-jobs` does).',
  JobOfCronJob: 'The Job belongs to a CronJob, whose next run reads the data of then.',
  JobTwin:
    'Not a Job of its own: it keeps what another Job is to become while that one is deleted and created again.',
  WorkloadRefAnnotated:
    'The Deployment whose pod template the Rollout has (`spec.workloadRef`) says itself when it reloads, and then its template rolls the Rollout.',
  WorkloadRefMissing:
    'The Deployment whose pod template the Rollout has (`spec.workloadRef`) does not exist.',
  WorkloadRefUnsupported:
    'The Rollout has the pod template of an object that is not followed: expected a Deployment in `spec.workloadRef`.',
  RecreationFinished: 'A recreation of a Job that another worker had left half done was finished.',
  ReloadedPaused:
    'The Deployment was patched, and its rollout is held back: for its pause-period, or because it was paused already.',
  ReloadedWithoutPause:
    'The workload was patched and rolls at once: its pause-period cannot be used (an Event says why).',
  Paused: 'The rollout is held back until the pause-period is over.',
  Contested:
    'Somebody took its marker away three times in ten minutes. Nothing is done to it until its pod template or its annotations are edited, or `reroll.dev/release` on it gets another value.',
  AnnotationsFull:
    'The annotations of the workload, or of its pod template, have no room for what a reload writes: Kubernetes allows 262,144 bytes of keys and values together, of which Reroll leaves 4,096 free. The workload is evaluated again when its annotations change.',
  RecordTooLarge:
    'The applied record of the workload would have more than 131,072 bytes: it depends on too many sources. It is left alone until it depends on fewer.',
  WouldReload: 'A dry run: the workload would have been patched.',
  RequestDone:
    'The pods were rolled for this request before, by an attempt that was cut off; nothing more was done.',
  InStep: 'The record says that the pods were last rolled with this data already.',
  SourceAbsent: 'The source does not exist.',
  SourceNotWatched:
    'The source exists but is not watched (its type is among `--secret-types-to-ignore`, or it lacks the labels of `--resource-label-selector`), so its changes are not seen.',
  BroughtByOwner:
    "The workload's own rollout, after the change, brought the data: only the record was corrected.",
  Adopted: 'The workload had no record of the source yet. It was recorded as it is; nothing was rolled.',
  StaleAtAdoption:
    'Recorded as it is, though nothing tells whether the pods run the present data (`--adopt-stale=reload` rolls such workloads).',
  RecordRewritten:
    'The record was under an older scheme of hashing, and agreed: it was rewritten, nothing was rolled.',
  KeyUnknown:
    'The record is under a key (`--hash-key-file`) that this worker does not have, so it cannot tell whether the data changed. It leaves that to a worker that can, for ten minutes; then it goes by the dates of the writes.',
  QueuePaused:
    'Somebody paused a queue of jobs. Nothing is lost: what is owed is done when the queue is resumed.',
  CatalogBehind:
    'The watcher has not yet seen what was read here. Nothing was done; its own event wakes the workload again.',
  WorkloadGone: 'The workload no longer exists.',
  RateLimited: 'The limit of reloads a minute is used up; the reload waits for its turn.',
  Conflicting: 'Somebody kept changing the workload while it was to be patched; it is tried again later.',
  Invalid: 'The API server refused the patched workload as invalid. It is tried again at growing intervals.',
  Forbidden: 'Reroll may not read or write the object: RBAC, an admission policy or a webhook refuses it.',
  ApiUnavailable: 'The API server could not be reached or failed; it is tried again.',
  NotDelivered:
    'The receiver of an alert or webhook could not be reached or did not accept it; it is tried again.',
  NotifiedInstead: 'Changes are posted to `--webhook-url`, and nothing is reloaded.',
  InvalidJob: 'A job in the queue could not be read.',
  Failed: 'The reload failed for a reason that is none of the others; the log of the worker has its code.',
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
