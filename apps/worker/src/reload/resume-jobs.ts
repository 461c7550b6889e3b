import { resumeJob, type ResumeJob } from '@reroll/redis/queue/jobs';
import { RESUMES } from '@reroll/redis/queue/queues';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { JobError } from '../job-error.ts';
import type { FailedAttempt, QueueHandler } from '../queue-runner.ts';
import type { ResumeProcessor } from './resume.processor.ts';

/** Handles the queue of resume jobs. */
export class ResumeJobs implements QueueHandler<ResumeJob> {
  readonly queue = RESUMES;
  readonly schema = resumeJob;
  readonly #processor: ResumeProcessor;
  readonly #log: Logger;

  constructor(processor: ResumeProcessor, log: Logger) {
    this.#processor = processor;
    this.#log = log;
  }

  handle(job: ResumeJob): Promise<void> {
    return this.#processor.handle(job);
  }

  async failed({ workload }: ResumeJob, error: JobError, { number, isLast }: FailedAttempt): Promise<void> {
    this.#log.failure('a Deployment could not be resumed', error, {
      workload,
      attempt: number,
      final: isLast,
    });
  }
}
