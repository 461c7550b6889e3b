import { Module, type DynamicModule } from '@nestjs/common';
import { REASONS } from '@reroll/core/reasons';
import { CatalogModule } from '@reroll/nest/catalog.module';
import { HealthModule } from '@reroll/nest/health.module';
import type { Process } from '@reroll/nest/process';
import { provided } from '@reroll/nest/provided';
import { RedisModule } from '@reroll/nest/redis.module';
import { LOG, REDIS } from '@reroll/nest/tokens';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { openForWaiting, type RedisClient } from '@reroll/redis/connection/redis';
import { RedisRoom } from '@reroll/redis/connection/redis-room';
import { trustMessagesOf } from '@reroll/shared/platform/logging/error-fields';
import { workerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { ChangeModule } from './change/change.module.ts';
import { WorkerHeartbeat } from './heartbeat.service.ts';
import { JobError } from './job-error.ts';
import { NotifyModule } from './notify/notify.module.ts';
import { OutcomesModule } from './outcomes.module.ts';
import { Activity, type TakingOptions } from './queue-runner.ts';
import { QueueTakers } from './queue-takers.service.ts';
import { ReloadModule } from './reload/reload.module.ts';
import { JOB_OBSERVERS, TAKING_OPTIONS, WORKER_METRICS, WORKER_OPTIONS } from './tokens.ts';
import { WorkerService, WorkerState } from './worker.service.ts';

const GUESSABLE =
  'without --hash-key-file markers and records have plain hashes of Secrets: whoever reads a workload can test guesses of a weak one';

@Module({})
export class WorkerModule {
  /** Throws a `SettingsError`. */
  static of(options: WorkerOptions, process: Process): DynamicModule {
    const { log, registry } = process;
    log.info('Starting Reroll worker', { dryRun: options.dryRun });
    trustMessagesOf(JobError);
    const { hashKeys } = process;
    if (options.hash === 'auto' && hashKeys.length === 0) log.warning(GUESSABLE);
    const metrics = workerMetrics(registry, Object.keys(REASONS), options.metricsCountByNamespace);
    return {
      module: WorkerModule,
      // Its feature modules need the options and metrics.
      global: true,
      imports: [
        HealthModule,
        RedisModule,
        CatalogModule,
        OutcomesModule,
        ChangeModule,
        ReloadModule,
        NotifyModule,
      ],
      providers: [
        { provide: WORKER_OPTIONS, useValue: options },
        { provide: WORKER_METRICS, useValue: metrics },
        provided(
          JOB_OBSERVERS,
          [WORKER_METRICS, LOG, Activity, RedisRoom, Lifecycle],
          (counts, logger, activity, room, lifecycle) => ({
            metrics: counts,
            log: logger,
            activity,
            onError: (error) => room.failed(error),
            onEnd: (queue, error) => void lifecycle.fail(`The queue ${queue} cannot be used`, error),
          }),
        ),
        provided(TAKING_OPTIONS, [WORKER_OPTIONS, REDIS, Catalog, Lifecycle], takingOptions),
        WorkerState,
        QueueTakers,
        WorkerHeartbeat,
        WorkerService,
      ],
      exports: [WORKER_OPTIONS, WORKER_METRICS],
    };
  }
}

/** Opens the connection that waits for jobs, which cannot be shared. */
function takingOptions(
  { concurrency, stalledLock: lockDuration }: WorkerOptions,
  redis: RedisClient,
  { keys }: Catalog,
  lifecycle: Lifecycle,
): TakingOptions {
  const connection = openForWaiting(redis);
  lifecycle.onStop('redis of the queues', 500, () => connection.disconnect());
  return { connection, prefix: keys.prefix, concurrency, lockDuration };
}
