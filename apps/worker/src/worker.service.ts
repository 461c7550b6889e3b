import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Readiness } from '@reroll/nest/health.module';
import { Process } from '@reroll/nest/process';
import { Catalog } from '@reroll/redis/catalog/catalog';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { giveBackMemorySoon } from '@reroll/shared/platform/process/memory';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { WorkerHeartbeat } from './heartbeat.service.ts';
import { QueueTakers } from './queue-takers.service.ts';
import { WORKER_OPTIONS } from './tokens.ts';

/** Whether this worker takes jobs, as `/ready` reports. */
@Injectable()
export class WorkerState {
  isTaking = false;

  constructor(readiness: Readiness, lifecycle: Lifecycle) {
    readiness.add('queues', () =>
      this.isTaking && !lifecycle.signal.aborted ? undefined : 'no jobs are taken',
    );
  }
}

/**
 * Takes jobs until shutdown. Shutdown runs backwards: stop taking jobs and finish those under way, write what they left
 * to report, close the connections.
 */
@Injectable()
export class WorkerService implements OnApplicationBootstrap {
  constructor(
    private readonly process: Process,
    @Inject(WORKER_OPTIONS) private readonly options: WorkerOptions,
    private readonly state: WorkerState,
    private readonly queues: QueueTakers,
    private readonly heartbeat: WorkerHeartbeat,
    private readonly catalog: Catalog,
  ) {}

  onApplicationBootstrap(): void {
    const { lifecycle, log } = this.process;
    const { concurrency, shutdownTimeout, dryRun } = this.options;
    const deadline = Math.max(1_000, shutdownTimeout - 8_000);
    if (!dryRun)
      this.catalog
        .dropPretended()
        .catch((error: unknown) => log.failure('cannot drop the records of a former dry run', error));
    const takers = this.queues.take();
    lifecycle.onStop('queues', deadline, (signal) => this.queues.close(takers, signal));
    this.heartbeat.start(takers);
    giveBackMemorySoon();
    this.state.isTaking = true;
    log.info('taking jobs', { concurrency });
  }
}
