import { Module } from '@nestjs/common';
import { KubeClient } from '@reroll/kube/client/connection';
import { CatalogModule } from '@reroll/nest/catalog.module';
import { KubeModule } from '@reroll/nest/kube.module';
import { Process } from '@reroll/nest/process';
import { QueueModule } from '@reroll/nest/queue.module';
import { LOG } from '@reroll/nest/tokens';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { History } from '@reroll/redis/history/history';
import { Queues } from '@reroll/redis/queue/queues';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import { decisionSettings } from '@reroll/shared/platform/options/decision-settings';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { NotifyModule } from '../notify/notify.module.ts';
import { Notifying } from '../notify/notifying.service.ts';
import { OutcomesModule } from '../outcomes.module.ts';
import { OutcomeRecorder } from '../outcome-recorder.ts';
import { WORKER_METRICS, WORKER_OPTIONS } from '../tokens.ts';
import { ChangeReports } from './change-reports.ts';
import { ChangeProcessor } from './change.processor.ts';
import { SourceReader } from './source-reader.ts';

/** Change jobs, and the reader of sources. */
@Module({
  imports: [KubeModule, CatalogModule, QueueModule, OutcomesModule, NotifyModule],
  providers: [
    {
      provide: SourceReader,
      inject: [KubeClient, Catalog, Process, WORKER_OPTIONS],
      useFactory: sourceReader,
    },
    { provide: ChangeReports, inject: [OutcomeRecorder, WORKER_METRICS, LOG], useFactory: changeReports },
    {
      provide: ChangeProcessor,
      inject: [Catalog, SourceReader, History, Queues, ChangeReports, Notifying, WORKER_OPTIONS],
      useFactory: changeProcessor,
    },
  ],
  exports: [SourceReader, ChangeProcessor],
})
export class ChangeModule {}

function sourceReader(
  client: KubeClient,
  catalog: Catalog,
  { hashKeys }: Process,
  options: WorkerOptions,
): SourceReader {
  return new SourceReader(
    { client, catalog },
    {
      hashKeys,
      markerHash: options.hash,
      ignoredSecretTypes: options.secretTypesToIgnore,
      labels: options.resourceLabelSelector,
    },
  );
}

function changeReports(outcomes: OutcomeRecorder, metrics: WorkerMetrics, log: Logger): ChangeReports {
  return new ChangeReports({ outcomes, metrics, log });
}

function changeProcessor(
  catalog: Catalog,
  sources: SourceReader,
  history: History,
  queue: Queues,
  reports: ChangeReports,
  { webhook }: Notifying,
  options: WorkerOptions,
): ChangeProcessor {
  const ports = { catalog, sources, history, queue, reports, webhook };
  return new ChangeProcessor(ports, decisionSettings(options));
}
