import type { ReloadRequest } from '@reroll/redis/catalog/requests';
import type { OutcomeEntry } from '@reroll/core/history/entries';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import { formatDuration } from '@reroll/core/durations';
import { sourceKeyIn } from '@reroll/core/state/rows';
import { markerType } from '@reroll/core/marker/marker-type';
import { isHoldReason, type ReloadHold } from '@reroll/core/holds/hold';
import { limitProblem } from '@reroll/core/holds/reload-limit';
import { keyOf, partsOf, type SourceId } from '@reroll/core/model';
import { unfollowedReason } from '@reroll/core/state/workloads/advice';
import { MOST_FOLLOWERS } from '@reroll/core/state/workloads/template-followers';
import { excessText } from '@reroll/core/annotations/annotation-limits';
import type { PatternError } from '@reroll/core/patterns/patterns';
import type { EventRecorder, EventSubject } from '@reroll/kube/kube-events';
import { apiVersionOf } from '@reroll/kube/objects';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { ReloadJob } from '@reroll/redis/queue/jobs';
import type { Alerts } from '../notify/alerts.ts';
import type { JobError } from '../job-error.ts';
import type { SourceReader } from '../change/source-reader.ts';
import type { OutcomeRecorder } from '../outcome-recorder.ts';
import { LastFailures } from './last-failures.ts';
import { isNoRoom, type ReloadOutcome } from './reload-outcome.ts';
import { sourceIdOf } from './reload-plan.ts';
import type { WorkloadNow } from './workload-reader.ts';

export interface ReportsContext {
  readonly catalog: Pick<Catalog, 'isNewWarning' | 'isNewHold' | 'forgetHold'>;
  readonly sources: Pick<SourceReader, 'lastWriter' | 'subjectOf'>;
  readonly events: EventRecorder;
  readonly outcomes: OutcomeRecorder;
  /** Defined if alerts are on. */
  readonly alerts?: Alerts | undefined;
  readonly metrics: WorkerMetrics;
  readonly log: Logger;
}

const WARNINGS = {
  InvalidAnnotation: 'an annotation is not usable',
  LeftBehind: 'another system left something behind',
  Contested: 'another controller reverts the marker of a workload',
  AnnotationsFull: 'the annotations of a workload have no room for a reload',
  RecordTooLarge: 'a workload depends on too many sources',
  WorkloadRefUnsupported: 'a pod template cannot be watched',
  TooManyRollouts: 'too many Rollouts use the pod template of a Deployment',
} as const;
const UNFOLLOWED = {
  WorkloadRefUnsupported:
    'expected a Deployment (apps/v1) in spec.workloadRef, given another kind: its pod template is not read, so the ' +
    'annotations of this Rollout have no effect',
  TooManyRollouts:
    `expected at most ${MOST_FOLLOWERS} Rollouts that refer to the same Deployment in spec.workloadRef, given more: the ` +
    'annotations of this Rollout have no effect until others of them are deleted or refer to another Deployment',
};
const PATTERNS = 'expected a list of regular expressions (RE2)';
const KEY_UNKNOWN =
  'a worker lacks the hash key of the applied record, so it cannot tell whether the data changed. For about ten minutes, the ' +
  'workload is left to workers that have the key; then the times of the writes decide';
/** Milliseconds. */
const KEY_WARNING_EVERY = 600_000;
interface Run {
  readonly attempt: number;
  readonly attempts: number;
}
type WarningReason = keyof typeof WARNINGS;

interface Warning {
  readonly reason: WarningReason;
  /** Tells problems apart that a workload can have at once. Default: the reason. */
  readonly kind?: string;
  readonly problems: readonly string[];
}

/** Reports the outcomes of reload jobs: to the log, metrics, Kubernetes Events and history. */
export class ReloadReports {
  readonly #context: ReportsContext;
  readonly #failures: LastFailures;
  /** Unix ms. */
  #nextKeyWarning = 0;

  constructor(context: ReportsContext) {
    this.#context = context;
    this.#failures = new LastFailures(context.metrics);
  }

  /** Counts a patch whose test failed, because the workload was written meanwhile. */
  overtaken(): void {
    this.#context.metrics.patchConflicts.inc();
  }

  /**
   * Counts a job left to workers that have the key of the applied record, and warns of the first in ten minutes. Of each workload it is
   * reported once.
   */
  leftToOthers(job: ReloadJob, left: ReloadOutcome, run: Run): void {
    const { metrics, log } = this.#context;
    const { workload } = job;
    this.#reportLeft(job, left, run).catch((error: unknown) =>
      log.failure('cannot report a workload that waits', error, { workload }),
    );
    metrics.outcomes.inc({ reason: 'KeyUnknown' });
    const now = Date.now();
    if (now < this.#nextKeyWarning) return;
    this.#nextKeyWarning = now + KEY_WARNING_EVERY;
    log.warning(
      'workloads wait for up to ten minutes, because this worker does not have the hash key of their records',
      { workload, reason: 'KeyUnknown' },
    );
  }

  /** Once for each record, which stays as it is while the workload waits. */
  async #reportLeft(job: ReloadJob, left: ReloadOutcome, run: Run): Promise<void> {
    const { catalog, events } = this.#context;
    const { subject } = left;
    if (!(await catalog.isNewWarning(job.workload, 'KeyUnknown', subject?.observed.record ?? ''))) return;
    this.#record({ ...entryOf(job, left, run), detail: KEY_UNKNOWN }, job);
    if (subject) events.record({ workload: subjectOf(subject), reason: 'KeyUnknown', note: KEY_UNKNOWN });
  }

  ended(job: ReloadJob, outcome: ReloadOutcome, run: Run): void {
    const { metrics, log } = this.#context;
    const { state, reason, rolled, subject } = outcome;
    metrics.outcomes.inc({ reason });
    if (state === 'reloaded' && subject) this.#reloaded(job, subject, outcome);
    else if (state === 'unchanged') metrics.skipped.inc({ reason: 'strategy_not_updated' });
    if (state === 'wouldReload')
      log.info('dry run: would reload', { workload: job.workload, sources: rolled });
    if (reason === 'JobTwin')
      log.warning('dry run: a recreation of a Job is half done, and not finished here', {
        workload: job.workload,
      });
    if (subject && (outcome.pausedFor !== undefined || reason === 'ReloadedPaused'))
      this.#paused(subject, outcome.pausedFor);
    if (subject) this.#warnOf(subject, outcome);
    this.#recordUnlessKnown(job, outcome, run);
  }

  #recordUnlessKnown(job: ReloadJob, outcome: ReloadOutcome, run: Run): void {
    if (!isKnown(job, outcome)) this.#record(entryOf(job, outcome, run), job);
  }

  /** Reports a held reload, if it is to be (`isNewHold`). Rejects with ioredis' error. */
  async held(
    job: ReloadJob,
    outcome: ReloadOutcome & { readonly hold: ReloadHold },
    run: Run,
  ): Promise<void> {
    const { catalog, events } = this.#context;
    const { hold, subject, request } = outcome;
    // Whoever asks for a reload is told that it is held, also if that is known.
    const told = request ? `${hold.detail} (${request.id})` : hold.detail;
    if (!(await catalog.isNewHold(job.workload, told))) return;
    const note = hold.detail + (await this.#writersOf(outcome));
    this.ended(job, { ...outcome, hold: { ...hold, detail: note } }, run);
    if (subject) events.record({ workload: subjectOf(subject), reason: hold.reason, note });
    if (hold.halted !== undefined && subject)
      await this.#tellOfHalt(sourceIdOf(hold.halted, subject.observed.namespace), note);
  }

  /** The Event of the source whose change is halted, once for all of its workloads. */
  async #tellOfHalt(source: SourceId, note: string): Promise<void> {
    const { catalog, events, sources, log } = this.#context;
    if (!(await catalog.isNewHold(keyOf(source), note))) return;
    try {
      const subject = await sources.subjectOf(source);
      if (subject) events.record({ workload: subject, reason: 'WaveHalted', note });
    } catch (error) {
      log.failure('cannot read the source of a halted change', error, { source: keyOf(source) });
    }
  }

  /** For a workload that is reloaded too often: who writes the source for which it is pending. */
  async #writersOf({ subject, hold, sources }: ReloadOutcome): Promise<string> {
    const name = Object.keys(sources).find((each) => sources[each] === 'Roll');
    if (hold?.reason !== 'TooOften' || name === undefined || !subject) return '';
    try {
      const writer = await this.#context.sources.lastWriter(sourceIdOf(name, subject.observed.namespace));
      return writer === undefined ? '' : `. ${name} was last written by ${writer}`;
    } catch (error) {
      this.#context.log.failure('cannot read who wrote a source last', error, {
        workload: subject.key,
        source: name,
      });
      return '';
    }
  }

  failed(job: ReloadJob, error: JobError, run: Run & { isLast: boolean; next?: number | undefined }): void {
    const { metrics, log, events } = this.#context;
    const { kind, name, namespace } = partsOf(job.workload);
    metrics.outcomes.inc({ reason: error.reason });
    const entry: OutcomeEntry = {
      workload: job.workload,
      state: run.isLast ? 'failed' : 'retrying',
      reason: error.reason,
      sources: {},
      rolled: [],
      since: job.since,
      at: Date.now(),
      attempt: run.attempt,
      attempts: run.attempts,
      next: run.next,
      error: error.message,
      ...requestOf(error.request),
    };
    this.#record(entry, job);
    log.error(
      `Update for '${name}' of type '${kind}' in namespace '${namespace}' failed with error ${error.message}`,
      {
        workload: job.workload,
        attempt: run.attempt,
        final: run.isLast,
      },
    );
    if (!run.isLast) return;
    metrics.reloadExecuted.inc({ success: 'false' });
    metrics.reloadExecutedByNamespace?.inc({ success: 'false', namespace });
    this.#failures.failed(namespace);
    metrics.action.inc({ workload_kind: kind, result: 'error' });
    // The resync's reload jobs name no source.
    const [pending] = error.pending;
    const source = job.source ?? (pending ? sourceKeyIn(namespace, pending) : undefined);
    if (!error.subject) return;
    const workload = subjectOf(error.subject);
    const failure = error.message;
    if (source !== undefined) events.record({ source: partsOf(source), workload, failure });
    else if (error.request) events.record({ workload, requestReason: error.request.reason, failure });
  }

  #record(entry: OutcomeEntry, { source }: ReloadJob): void {
    const { catalog, outcomes, log } = this.#context;
    const { workload, reason } = entry;
    outcomes.addOutcome(entry, source);
    if (isHoldReason(reason)) return;
    catalog
      .forgetHold(workload)
      .catch((error: unknown) => log.failure('cannot record the end of a hold', error, { workload }));
  }

  #reloaded(job: ReloadJob, subject: WorkloadNow, { rolled: all, request }: ReloadOutcome): void {
    const { metrics, log, events, alerts } = this.#context;
    const { kind, namespace } = subject.observed;
    const { name } = subject.object.metadata;
    metrics.reloadExecuted.inc({ success: 'true' });
    metrics.reloadExecutedByNamespace?.inc({ success: 'true', namespace });
    metrics.action.inc({ workload_kind: kind, result: 'success' });
    const latency = Math.max(0, Date.now() - job.since) / 1000;
    metrics.actionLatency.observe({ workload_kind: kind }, latency);
    metrics.reloadLatency.observe(latency);
    if (all.length === 0 && request) this.#requested(subject, request);
    for (const rolled of all) {
      const source = sourceIdOf(rolled, namespace);
      log.info(
        `Changes detected in '${source.name}' of type '${markerType(source.kind)}' in namespace '${namespace}'; ` +
          `updated '${name}' of type '${kind}' in namespace '${namespace}'`,
        { workload: job.workload, source: rolled, milliseconds: Date.now() - job.since },
      );
      events.record({ source, workload: subjectOf(subject) });
      alerts?.reloaded(job.workload, sourceKeyIn(namespace, rolled));
    }
  }

  /** Reports a manual reload that no source caused. The audit log says who requested it. */
  #requested(subject: WorkloadNow, { id, reason }: ReloadRequest): void {
    const { log, events } = this.#context;
    const { kind, namespace } = subject.observed;
    const name = `'${subject.object.metadata.name}' of type '${kind}' in namespace '${namespace}'`;
    log.info(`${name} was reloaded on request`, { workload: subject.key, request: id });
    events.record({ workload: subjectOf(subject), requestReason: reason });
  }

  /** Logs a pause. Without a period, the workload was paused before. */
  #paused({ key, observed, object }: WorkloadNow, period: number | undefined): void {
    const which = `${observed.kind} '${object.metadata.name}' in namespace '${observed.namespace}'`;
    const text =
      period === undefined ? `${which} already paused` : `Pausing ${which} for ${formatDuration(period)}`;
    this.#context.log.info(text, { workload: key });
  }

  #warnOf(subject: WorkloadNow, outcome: ReloadOutcome): void {
    const warn = (warning: Warning): void => this.#warn(subject, warning);
    for (const [kind, problem] of problemsOf(outcome))
      warn({ reason: 'InvalidAnnotation', kind, problems: [problem] });
    const { leftBehind = [], noRoom, reason, contested } = outcome;
    if (leftBehind.length > 0) warn({ reason: 'LeftBehind', problems: leftBehind });
    const unfollowed = unfollowedReason(subject.observed);
    if (unfollowed) warn({ reason: unfollowed, problems: [UNFOLLOWED[unfollowed]] });
    if (noRoom !== undefined && isNoRoom(reason)) warn({ reason, problems: [noRoom] });
    if (contested !== undefined) warn({ reason: 'Contested', problems: [contested] });
  }

  #warn(subject: WorkloadNow, warning: Warning): void {
    this.#warnOnce(subject, warning).catch((error: unknown) =>
      this.#context.log.failure('cannot record a warning', error, { workload: subject.key }),
    );
  }

  /** Warns once a day for each kind, or if it says something else (`isNewWarning`), and not at every change. */
  async #warnOnce(subject: WorkloadNow, { reason, kind = reason, problems }: Warning): Promise<void> {
    const { catalog, log, events } = this.#context;
    if (!(await catalog.isNewWarning(subject.key, kind, problems.toSorted().join('\n')))) return;
    for (const problem of problems) {
      if (problem.startsWith(PATTERNS)) log.error(skippingText(subject), { workload: subject.key, problem });
      else log.warning(WARNINGS[reason], { workload: subject.key, problem });
      events.record({ workload: subjectOf(subject), reason, note: problem });
    }
  }
}

function subjectOf({ definition, object, observed }: WorkloadNow): EventSubject {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return { kind: observed.kind, name, namespace, uid, resourceVersion, apiVersion: apiVersionOf(definition) };
}

/** Whether a resync looked again at a reload that a dry run reported. A change or a request still needs its outcome. */
function isKnown({ source }: ReloadJob, { isRepeated, request }: ReloadOutcome): boolean {
  return isRepeated === true && source === undefined && request === undefined;
}

function entryOf(job: ReloadJob, outcome: ReloadOutcome, run: Run): OutcomeEntry {
  const { state, reason, sources, rolled, generation, request } = outcome;
  return {
    workload: job.workload,
    state,
    reason,
    sources,
    rolled,
    since: job.since,
    at: Date.now(),
    attempt: run.attempt,
    attempts: run.attempts,
    generation,
    ...requestOf(request),
    ...detailOf(outcome),
  };
}

function requestOf(request: ReloadRequest | undefined): Pick<OutcomeEntry, 'request'> {
  if (!request) return {};
  const { id, actor, reason } = request;
  return { request: { id, actor, reason } };
}

function detailOf(outcome: ReloadOutcome): { detail?: string } {
  const { noRoom, hold, leftBehind = [] } = outcome;
  const first = noRoom ?? hold?.detail;
  const problems = [...(first === undefined ? [] : [first]), ...problemsOf(outcome).values(), ...leftBehind];
  return problems.length > 0 ? { detail: problems.join('; ') } : {};
}

/** Problems of the annotations that the owner should know about, by kind. */
function problemsOf({ subject, patternErrors = [], pauseProblem }: ReloadOutcome): Map<string, string> {
  const excess = subject?.observed.excess;
  const limit = limitProblem(subject?.observed.annotations ?? {});
  return new Map([
    ...(excess ? [['Excess', excessText(excess)] as const] : []),
    ...(patternErrors.length > 0 ? [['Patterns', patternText(patternErrors)] as const] : []),
    ...(pauseProblem === undefined ? [] : [['Pause', pauseProblem] as const]),
    ...(limit === undefined ? [] : [['Limit', limit] as const]),
  ]);
}

function patternText(errors: readonly PatternError[]): string {
  const each = errors.map(({ pattern, error }) => `${JSON.stringify(pattern.slice(0, 80))}: ${error}`);
  return `${PATTERNS}, given ${each.join('; ')}`;
}

/** The text of stakater/Reloader, which it logs as an error. */
function skippingText({ observed, object }: WorkloadNow): string {
  const { kind, namespace } = observed;
  return `Skipping invalid reload annotation on ${kind} '${object.metadata.name}' in namespace '${namespace}'`;
}
