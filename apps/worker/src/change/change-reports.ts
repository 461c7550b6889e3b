import type { ChangeEntry } from '@reroll/core/history/entries';
import { markerType } from '@reroll/core/marker/marker-type';
import { kindOf, partsOf, type SourceKey } from '@reroll/core/model';
import type { ChangeJob } from '@reroll/redis/queue/jobs';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { resourceType } from '@reroll/shared/platform/metrics/shared';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { JobError } from '../job-error.ts';
import type { OutcomeRecorder } from '../outcome-recorder.ts';
import type { FailedAttempt } from '../queue-runner.ts';
import type { ChangeOutcome, JudgedUser } from './change.processor.ts';

export interface ChangeReportsContext {
  readonly outcomes: OutcomeRecorder;
  readonly metrics: WorkerMetrics;
  readonly log: Logger;
}

export class ChangeReports {
  readonly #context: ChangeReportsContext;

  constructor(context: ChangeReportsContext) {
    this.#context = context;
  }

  judged(users: readonly JudgedUser[]): void {
    const { metrics } = this.#context;
    for (const { workload, enqueue, reason } of users) {
      const kind = kindOf(workload);
      metrics.workloadsScanned.inc({ kind });
      if (enqueue) metrics.workloadsMatched.inc({ kind });
      else if (reason === 'NoContainer') metrics.skipped.inc({ reason: 'strategy_not_updated' });
      else metrics.skipped.inc({ reason: 'ignored_or_not_selected' });
    }
  }

  /** Call this before the workloads are enqueued, so that no outcome is recorded before the change. */
  expect(entry: ChangeEntry): void {
    this.#context.outcomes.expectOutcomes(entry);
  }

  enqueued(count: number): void {
    this.#context.metrics.workqueueAdds.inc(count);
  }

  /**
   * Logs as stakater/Reloader does: nothing about workloads that are ignored, excluded, or have no container that uses
   * the source. `startedAt`: Unix milliseconds.
   */
  ended({ source }: ChangeJob, { entry, isQuiet }: ChangeOutcome, startedAt: number): void {
    const { outcomes, metrics, log } = this.#context;
    const { kind, name, namespace } = partsOf(source);
    const text = `No changes detected in '${name}' of type '${markerType(kind)}' in namespace '${namespace}'`;
    for (const { workload, reason } of entry.leftAlone)
      if (reason === 'NotAnnotated') log.debug(text, { workload });
    if (isQuiet) outcomes.addQuietChange(entry);
    else outcomes.addChange(entry);
    this.#processed(source, 'success');
    metrics.reconcile.inc({ result: 'success' });
    metrics.reconcileDuration.observe({ result: 'success' }, (Date.now() - startedAt) / 1000);
  }

  failed({ source }: ChangeJob, error: JobError, { number, isLast }: FailedAttempt): void {
    const { metrics, log } = this.#context;
    metrics.reconcile.inc({ result: 'error' });
    if (isLast) this.#processed(source, 'dropped');
    const about = { source, attempt: number, final: isLast };
    log.error(`Error syncing events: ${error.message}`, about);
    if (isLast) log.error(`Dropping key out of the queue: ${error.message}`, about);
  }

  #processed(source: SourceKey, result: 'success' | 'dropped'): void {
    const labels = { event_type: 'unknown', resource_type: resourceType(kindOf(source)), result };
    this.#context.metrics.eventsProcessed.inc(labels);
  }
}
