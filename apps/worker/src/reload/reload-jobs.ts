import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { ReloadRequests } from '@reroll/redis/catalog/requests';
import { reloadJob, type ReloadJob } from '@reroll/redis/queue/jobs';
import { RELOADS } from '@reroll/redis/queue/queues';
import type { JobError } from '../job-error.ts';
import type { Attempt, FailedAttempt, QueueHandler } from '../queue-runner.ts';
import type { ReloadReports } from './reload-reports.ts';
import type { ReloadProcessor } from './reload.processor.ts';

export interface ReloadJobsContext {
  readonly reports: ReloadReports;
  readonly catalog: Pick<Catalog, 'setBackingOff'>;
  readonly requests: Pick<ReloadRequests, 'done'>;
}

/** Handles the queue of reload jobs. */
export class ReloadJobs implements QueueHandler<ReloadJob> {
  readonly queue = RELOADS;
  readonly schema = reloadJob;
  readonly #processor: ReloadProcessor;
  readonly #context: ReloadJobsContext;

  constructor(processor: ReloadProcessor, context: ReloadJobsContext) {
    this.#processor = processor;
    this.#context = context;
  }

  async handle(job: ReloadJob, { number, most }: Attempt): Promise<void> {
    const { reports, catalog, requests } = this.#context;
    const outcome = await this.#processor.handle(job);
    reports.ended(job, outcome, { attempt: number, attempts: most });
    if (outcome.request) await requests.done(job.workload, outcome.request.id);
    if (number > 1) await catalog.setBackingOff(job.workload, null);
  }

  async failed(job: ReloadJob, error: JobError, attempt: FailedAttempt): Promise<void> {
    const { reports, catalog, requests } = this.#context;
    const { number, most, isLast, jobId, next } = attempt;
    reports.failed(job, error, { attempt: number, attempts: most, isLast, next });
    await catalog.setBackingOff(job.workload, isLast ? null : jobId);
    // A person is told; what the API server's absence kept from being done, the resync enqueues again.
    if (isLast && error.request && error.reason !== 'ApiUnavailable')
      await requests.done(job.workload, error.request.id);
  }
}
