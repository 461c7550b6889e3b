import { kindOf } from '../model.ts';
import { formatDuration } from '../durations.ts';
import type { NamespaceHolds, ReloadHold } from '../holds/hold.ts';
import { holdOf } from '../holds/reload-hold.ts';
import { limitProblem } from '../holds/reload-limit.ts';
import { unusablePatterns } from '../state/workloads/advice.ts';
import { isInConflict } from '../state/workloads/conflict.ts';
import { REASONS, type Reason } from '../reasons.ts';
import { isOnlyRecorded } from '../reload/job-of-cron-job.ts';
import { pauseWish } from '../reload/pause.ts';
import type { ExplainInput, ExplainedWorkload, FactsFrom } from './facts.ts';

/** Something other than the rules that affects a reload. */
export interface Hold {
  readonly reason: Reason;
  /** Nothing is reloaded while this holds. */
  readonly stops: boolean;
  /** One sentence, or two. */
  readonly detail: string;
}

/**
 * Returns the holds in the order in which a worker meets them. The worker reports the first one that stops the reload. `heldNow`: see
 * `holdNow`.
 */
export function holdsOn(input: ExplainInput, heldNow: ReloadHold | undefined): Hold[] {
  const { workload, settings } = input;
  const { row } = workload;
  return [
    ...(settings.notifyOnly ? [stop('NotifiedInstead')] : []),
    ...(isInConflict(row.conflict) ? [stop('Contested')] : []),
    ...(isOnlyRecorded(row, settings) ? [stop('CronJobSuspended', SUSPENDED)] : []),
    ...(settings.dryRun ? [stop('WouldReload', 'This is a dry run (`--dry-run`): nothing is patched.')] : []),
    ...ofSource(input),
    ...(input.pausedQueues ?? []).map((name) =>
      remark(
        'QueuePaused',
        `The queue ${name} is paused: pending workloads are reloaded when it is resumed.`,
      ),
    ),
    ...unreadNamespaces(input).map((detail) => remark('Forbidden', detail)),
    ...(heldNow ? [remark(heldNow.reason, sentence(heldNow.detail))] : []),
    ...ofLimit(workload),
    ...ofPause(workload, settings.decision.keys),
    ...unusablePatterns(row, settings.decision.keys).map(({ pattern, error }) =>
      remark('InvalidPattern', `The pattern ${JSON.stringify(pattern)} is invalid: ${error}.`),
    ),
  ];
}

const NO_NAMESPACES: NamespaceHolds = { namespace: {}, installation: {} };

/** What to say if it was asked what holds the workload, and a Namespace could not be read. */
export function unreadNamespaces({
  now,
  namespaces: { namespace, installation } = {},
}: Pick<ExplainInput, 'now' | 'namespaces'>): string[] {
  if (now === undefined) return [];
  return [
    ...(namespace ? [] : ['The Namespace could not be read, so what its annotations hold is not known.']),
    ...(installation
      ? []
      : ['The Namespace of the installation was not read, so a freeze of everything is not known.']),
  ];
}

function stop(reason: Reason, detail: string = REASONS[reason]): Hold {
  return { reason, stops: true, detail };
}

function remark(reason: Reason, detail: string): Hold {
  return { reason, stops: false, detail };
}

const SUSPENDED = 'The CronJob is suspended: no Job is created, and its next run picks up the data.';

const UNSEEN: Readonly<Record<FactsFrom, string>> = {
  catalog:
    'The watcher has not seen the source: it does not exist, or its type, labels or kind are not watched.',
  cluster: 'The source does not exist.',
};
const UNWATCHED = 'The source does not have the labels of `--resource-label-selector`.';
const UNREADABLE =
  'You may not read the source, so its annotations and labels are not known. The answer assumes that it has no annotations and is watched.';
const NOT_ON_CREATE =
  'Without `--reload-on-create`, its creation reloads nothing, unless it was recorded before and comes back with other data.';

function ofSource({ source, settings, from, unwatched }: ExplainInput): Hold[] {
  const why = unwatched?.get(source.key);
  if (why !== undefined) return [stop('SourceNotWatched', why)];
  if (source.isUnreadable === true) return [remark('Forbidden', UNREADABLE)];
  if (source.row?.isUnwatched) return [stop('SourceNotWatched', UNWATCHED)];
  if (source.row?.exists) return [];
  const what = source.row ? 'The source was deleted.' : UNSEEN[from];
  return [remark('SourceAbsent', settings.triggers.onCreate ? what : `${what} ${NOT_ON_CREATE}`)];
}

/**
 * Why the workload would be held now. Holds of Namespaces are left out if these could not be read; waves if they are not given; limits of
 * rollouts at once always are.
 */
export function holdNow({
  workload: { row },
  settings,
  now,
  namespaces,
  wave,
}: ExplainInput): ReloadHold | undefined {
  if (now === undefined) return undefined;
  const { annotations, record } = row;
  const own = holdOf({
    workload: annotations,
    ...NO_NAMESPACES,
    ...namespaces,
    defaults: settings.holds ?? {},
    record,
    // Known only when something is pending.
    id: undefined,
    now,
  });
  return own ?? wave;
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}

function ofLimit({ row }: ExplainedWorkload): Hold[] {
  const problem = limitProblem(row.annotations);
  return problem === undefined ? [] : [remark('InvalidAnnotation', `${problem}.`)];
}

function ofPause({ key, row }: ExplainedWorkload, keys: Parameters<typeof pauseWish>[1]): Hold[] {
  const wish = pauseWish({ kind: kindOf(key), annotations: row.annotations }, keys);
  const wished =
    wish.state === 'pause'
      ? `After a reload, its rollout is paused for ${formatDuration(wish.period)} (${keys.pausePeriod}).`
      : undefined;
  return [
    ...(row.resumeAt === undefined ? [] : [remark('Paused', pausedUntil(row.resumeAt))]),
    ...(wished === undefined ? [] : [remark('ReloadedPaused', wished)]),
    ...(wish.state === 'unusable' ? [remark('ReloadedWithoutPause', `${wish.problem}.`)] : []),
  ];
}

/** 0 or a time in the past: the end cannot be read, or the pause is over. */
function pausedUntil(resumeAt: number): string {
  return resumeAt === 0
    ? 'Its rollout is paused and resumes now.'
    : `Its rollout is paused until ${new Date(resumeAt).toISOString()}.`;
}
