import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Readiness } from '@reroll/nest/health.module';
import { Process } from '@reroll/nest/process';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { giveBackMemory } from '@reroll/shared/platform/process/memory';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { WorkerHeartbeat } from './heartbeat.service.ts';
import { JobResults, JobSources } from './job-ends.service.ts';
import { runWorker } from './lifecycle.ts';
import { WORKER_METRICS, WORKER_OPTIONS } from './tokens.ts';

/** Whether this worker takes jobs, which `/ready` tells. */
@Injectable()
export class WorkerState {
  isTaking = false;

  constructor(readiness: Readiness, lifecycle: Lifecycle) {
    readiness.add('queues', () =>
      this.isTaking && !lifecycle.signal.aborted ? undefined : 'no jobs are taken',
    );
  }
}

/** Takes jobs from when everything is there until the end. */
@Injectable()
export class WorkerService implements OnApplicationBootstrap {
  constructor(
    private readonly process: Process,
    @Inject(WORKER_OPTIONS) private readonly options: WorkerOptions,
    @Inject(WORKER_METRICS) private readonly metrics: WorkerMetrics,
    private readonly state: WorkerState,
    private readonly from: JobSources,
    private readonly into: JobResults,
    private readonly heartbeat: WorkerHeartbeat,
  ) {}

  onApplicationBootstrap(): void {
    const { options, metrics } = this;
    const { log, lifecycle, hashKeys } = this.process;
    const { client, redis, catalog } = this.from;
    const context = { options, log, lifecycle, hashKeys, metrics, client, redis, catalog };
    runWorker(context, this.into, this.heartbeat);
    giveBackMemory();
    this.state.isTaking = true;
    log.info('taking jobs', { concurrency: options.concurrency });
  }
}
