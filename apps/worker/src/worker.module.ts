import { Module, type DynamicModule } from '@nestjs/common';
import { REASONS } from '@reroll/core/reasons';
import { CatalogModule } from '@reroll/nest/catalog.module';
import { HealthModule } from '@reroll/nest/health.module';
import { KubeModule } from '@reroll/nest/kube.module';
import type { Process } from '@reroll/nest/process';
import { QueueModule } from '@reroll/nest/queue.module';
import { RedisModule } from '@reroll/nest/redis.module';
import { trustMessagesOf } from '@reroll/shared/platform/logging/error-fields';
import { workerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { JobError } from './job-error.ts';
import { WORKER_METRICS, WORKER_OPTIONS } from './tokens.ts';
import { WorkerHeartbeat } from './heartbeat.service.ts';
import { JobResults, JobSources } from './job-ends.service.ts';
import { WorkerService, WorkerState } from './worker.service.ts';

const GUESSABLE =
  'without --hash-key-file markers and records have plain hashes of Secrets: whoever reads a workload can test guesses of a weak one';

/** The role `worker`. */
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
      imports: [HealthModule, KubeModule, RedisModule, CatalogModule, QueueModule],
      providers: [
        { provide: WORKER_OPTIONS, useValue: options },
        { provide: WORKER_METRICS, useValue: metrics },
        WorkerState,
        JobSources,
        JobResults,
        WorkerHeartbeat,
        WorkerService,
      ],
    };
  }
}
