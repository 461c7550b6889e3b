import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { RedisClient } from '@reroll/redis/connection/redis';
import type { Worker } from 'bullmq';
import { ChangeProcessor } from './change/change.processor.ts';
import { Notifying } from './notify/notifying.service.ts';
import {
  Activity,
  runQueue,
  type JobObservers,
  type QueueHandler,
  type TakingOptions,
} from './queue-runner.ts';
import { ReloadProcessor } from './reload/reload.processor.ts';
import { ResumeProcessor } from './reload/resume.processor.ts';
import { JOB_OBSERVERS, TAKING_OPTIONS } from './tokens.ts';

/** Milliseconds. */
const ANSWERS_WITHIN = 2_000;
const ASKED_EVERY = 500;

@Injectable()
export class QueueTakers {
  constructor(
    @Inject(TAKING_OPTIONS) private readonly taking: TakingOptions & { readonly connection: RedisClient },
    @Inject(JOB_OBSERVERS) private readonly observers: JobObservers,
    private readonly changes: ChangeProcessor,
    private readonly reloads: ReloadProcessor,
    private readonly resumes: ResumeProcessor,
    private readonly notifying: Notifying,
  ) {}

  take(): Worker[] {
    const { changes, reloads, resumes, notifying, observers } = this;
    const run = <Payload>(handler: QueueHandler<Payload>, by = observers): Worker =>
      runQueue(handler, this.taking, by);
    // Separate from other jobs, so that Kubernetes Events do not wait for a slow receiver.
    const aside = { ...observers, activity: new Activity() };
    const notifications = notifying.handler ? [run(notifying.handler, aside)] : [];
    return [run(changes), run(reloads), ...notifications, run(resumes)];
  }

  /**
   * Lets the workers finish their jobs, all at once, so that none of them takes jobs meanwhile. Jobs that take too long are left for
   * other workers. So is every job while Redis is unreachable or does not answer, because the job's end could not be recorded.
   */
  async close(workers: readonly Worker[], signal: AbortSignal): Promise<void> {
    const { connection: redis, prefix } = this.taking;
    const closing = new AbortController();
    const until = AbortSignal.any([signal, closing.signal]);
    const lost = redis.status === 'ready' ? once(redis, 'close', { signal: until }) : Promise.resolve();
    const silent = untilSilent(() => redis.exists(prefix), until);
    const closed = allDone(workers.map((worker) => worker.close()));
    await Promise.race([closed, lost.catch(() => undefined), silent]).finally(() => closing.abort());
  }
}

/** Repeats a command until it is not answered in time, or the signal fires. An error is an answer, too. */
async function untilSilent(ask: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (let answered = true; answered && !signal.aborted;) {
    const answer = ask().then(
      () => true,
      () => true,
    );
    const silence = pause(ANSWERS_WITHIN, false, { signal }).catch(() => false);
    answered = await Promise.race([answer, silence]);
    if (answered) await pause(ASKED_EVERY, undefined, { signal }).catch(() => undefined);
  }
}

/** Like `Promise.all`, but does not go on before the last of them is over. */
async function allDone(tasks: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(tasks);
  await Promise.all(tasks);
}
