import { DelayedError, UnrecoverableError, Worker, type ConnectionOptions, type Job } from 'bullmq';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import { readPayload } from '@reroll/redis/queue/jobs';
import { leastPause } from '@reroll/redis/queue/least-pause';
import { RELOADS } from '@reroll/redis/queue/queues';
import type { z } from 'zod';
import { JobError, jobErrorOf, NotYetError } from './job-error.ts';

export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  /** The maximum number of attempts. */
  readonly most: number;
  readonly startedAt: number;
  readonly jobId: string;
}

export interface FailedAttempt extends Attempt {
  /** No further attempt follows. */
  readonly isLast: boolean;
  /** When the next attempt begins at the earliest, Unix milliseconds. */
  readonly next?: number;
}

export interface QueueHandler<Payload> {
  readonly queue: string;
  readonly schema: z.ZodType<Payload>;
  handle(payload: Payload, attempt: Attempt): Promise<void>;
  failed(payload: Payload, error: JobError, attempt: FailedAttempt): Promise<void>;
}

/** The connection of a queue's worker, and how many jobs it takes at once. */
export interface TakingOptions {
  readonly connection: ConnectionOptions;
  readonly prefix: string;
  readonly concurrency: number;
  /** Milliseconds for which a job of a lost worker stays locked. */
  readonly lockDuration: number;
}

export interface JobObservers {
  readonly metrics: WorkerMetrics;
  readonly log: Logger;
  readonly activity: Activity;
  /** Called for every error in a job or while taking one. Must not throw. */
  readonly onError?: (error: unknown) => void;
  /** Called if BullMQ cannot take the jobs of a queue, or no longer does. */
  readonly onEnd: (queue: string, error: unknown) => void;
}

/** Counts the jobs that this process is running. */
export class Activity {
  #running = 0;

  get isBusy(): boolean {
    return this.#running > 0;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }
}

/** Milliseconds that a payload of a newer version waits for a worker that knows the version. */
const UNKNOWN_VERSION_DELAY = 60_000;
/** Milliseconds between two logged errors of one queue, other than those of jobs. */
const ERROR_LOG_PAUSE = 60_000;
/** Times that a job can be taken over from lost workers. Jobs are safe to repeat. */
const MAX_STALLED = 100;

/**
 * Runs the jobs of one queue. This is the only place that throws to BullMQ: it writes an error's message to
 * Redis, so it must only get errors of ours.
 */
export function runQueue<Payload>(
  handler: QueueHandler<Payload>,
  taking: TakingOptions,
  observers: JobObservers,
): Worker {
  const { log, activity } = observers;
  const worker = new Worker(
    handler.queue,
    (job, token) => activity.during(() => runJob(job, token, { handler, observers })),
    { ...taking, stalledInterval: taking.lockDuration, maxStalledCount: MAX_STALLED, autorun: false },
  );
  worker.on('error', errorListener(handler.queue, observers));
  worker.on('stalled', (jobId) =>
    log.warning('a job of a lost worker was put back into the queue', { queue: handler.queue, job: jobId }),
  );
  // If BullMQ cannot ask Redis for its version, `run` would fail for ever, in a loop that starves every timer.
  worker
    .waitUntilReady()
    .then(() => worker.run())
    .catch((error: unknown) => {
      if (!worker.closing) observers.onEnd(handler.queue, error);
    });
  return worker;
}

/** Logs errors in taking jobs. `redisReports` logs lost connections, and BullMQ reconnects by itself. */
function errorListener(queue: string, { log, onError }: JobObservers): (error: Error) => void {
  let next = 0;
  return (error) => {
    onError?.(error);
    const now = Date.now();
    if (now < next || isLostConnection(error)) return;
    next = now + ERROR_LOG_PAUSE;
    log.failure('cannot take the jobs of a queue, or end one, retrying', error, { queue });
  };
}

/** The codes of sockets are texts; those of BullMQ are numbers, and answers of Redis have none. */
function isLostConnection(error: Error & { readonly code?: unknown }): boolean {
  return typeof error.code === 'string' || error.message.startsWith('Connection is closed');
}

interface Running<Payload> {
  readonly handler: QueueHandler<Payload>;
  readonly observers: JobObservers;
}

async function runJob<Payload>(job: Job, token: string | undefined, by: Running<Payload>): Promise<void> {
  const { handler, observers } = by;
  const { metrics } = observers;
  const reading = readPayload(handler.schema, job.data);
  if (reading.state === 'unknownVersion') {
    // While this job waits, jobs of a known version with the same key must get through.
    await job.removeDeduplicationKey();
    return await delay(job, token, UNKNOWN_VERSION_DELAY);
  }
  if (reading.state === 'invalid') throw unreadable(job, reading.problem, by);
  const most = job.opts.attempts ?? 1;
  const attempt = { number: job.attemptsMade + 1, most, startedAt: Date.now(), jobId: job.id ?? '' };
  const queue = handler.queue;
  const end = metrics.jobDuration.startTimer({ queue });
  if (attempt.number === 1)
    metrics.workqueueLatency.observe(Math.max(0, attempt.startedAt - job.timestamp - job.delay) / 1000);
  else metrics.retries.inc();
  try {
    await handler.handle(reading.payload, attempt);
    metrics.jobs.inc({ queue, result: 'success' });
  } catch (error) {
    if (error instanceof NotYetError) return await delay(job, token, error.wait);
    await fail(job, error, { ...by, payload: reading.payload, attempt });
  } finally {
    end();
  }
}

/** Reports a job that has no payload for its handler, and returns the error to throw. `problem` holds no value of the payload. */
function unreadable<Payload>(job: Job, problem: string, { handler, observers }: Running<Payload>): Error {
  const { metrics, log } = observers;
  const error = new JobError('InvalidJob', problem, true);
  const { queue } = handler;
  metrics.jobs.inc({ queue, result: 'invalid' });
  metrics.errors.inc({ type: 'handler_error' });
  if (queue === RELOADS) metrics.outcomes.inc({ reason: error.reason });
  log.error(`a job could not be read: ${error.message}`, { queue, job: job.id });
  return new UnrecoverableError(error.message);
}

async function fail<Payload>(
  job: Job,
  error: unknown,
  by: Running<Payload> & { payload: Payload; attempt: Attempt },
): Promise<never> {
  const { handler, observers, payload, attempt } = by;
  observers.onError?.(error);
  const jobError = jobErrorOf(error);
  const isLast = jobError.isFinal || attempt.number >= attempt.most;
  observers.metrics.jobs.inc({ queue: handler.queue, result: isLast ? 'failed' : 'retry' });
  observers.metrics.errors.inc({ type: 'handler_error' });
  const next = isLast ? {} : { next: Date.now() + leastPause(job.opts.backoff, attempt.number) };
  await handler.failed(payload, jobError, { ...attempt, isLast, ...next });
  throw jobError.isFinal ? new UnrecoverableError(jobError.message) : jobError;
}

async function delay(job: Job, token: string | undefined, milliseconds: number): Promise<never> {
  await job.moveToDelayed(Date.now() + milliseconds, token);
  throw new DelayedError();
}
