import type { ChangeJob } from '@reroll/redis/queue/jobs';
import { changeJob } from '@reroll/redis/queue/jobs';
import { CHANGES } from '@reroll/redis/queue/queues';
import type { JobError } from '../job-error.ts';
import type { Attempt, FailedAttempt, QueueHandler } from '../queue-runner.ts';
import type { ChangeReports } from './change-reports.ts';
import type { ChangeProcessor } from './change.processor.ts';

/** Handles the queue of change jobs. */
export class ChangeJobs implements QueueHandler<ChangeJob> {
  readonly queue = CHANGES;
  readonly schema = changeJob;
  readonly #processor: ChangeProcessor;
  readonly #reports: ChangeReports;

  constructor(processor: ChangeProcessor, reports: ChangeReports) {
    this.#processor = processor;
    this.#reports = reports;
  }

  async handle(job: ChangeJob, { startedAt }: Attempt): Promise<void> {
    this.#reports.ended(job, await this.#processor.handle(job), startedAt);
  }

  async failed(job: ChangeJob, error: JobError, attempt: FailedAttempt): Promise<void> {
    this.#reports.failed(job, error, attempt);
  }
}
