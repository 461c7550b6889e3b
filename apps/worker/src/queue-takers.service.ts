import { once } from 'node:events';
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
   * Lets the worker finish its jobs. Jobs that take too long are left for other workers. So is every job while Redis is
   * unreachable, because the job's end could not be recorded.
   */
  async close(worker: Worker, signal: AbortSignal): Promise<void> {
    const { connection: redis } = this.taking;
    const lost = redis.status === 'ready' ? once(redis, 'close', { signal }) : Promise.resolve();
    await Promise.race([worker.close(), lost.catch(() => undefined)]);
  }
}
