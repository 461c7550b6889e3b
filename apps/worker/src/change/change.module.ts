import { Module } from '@nestjs/common';
import { KubeClient } from '@reroll/kube/client/connection';
import { CatalogModule } from '@reroll/nest/catalog.module';
import { KubeModule } from '@reroll/nest/kube.module';
import { Process } from '@reroll/nest/process';
import { provided } from '@reroll/nest/provided';
import { QueueModule } from '@reroll/nest/queue.module';
import { LOG } from '@reroll/nest/tokens';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { History } from '@reroll/redis/history/history';
import { Queues } from '@reroll/redis/queue/queues';
import { decisionSettings } from '@reroll/shared/platform/options/decision-settings';
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
    provided(
      SourceReader,
      [KubeClient, Catalog, Process, WORKER_OPTIONS],
      (client, catalog, { hashKeys }, { hash, secretTypesToIgnore, resourceLabelSelector }) =>
        new SourceReader(
          { client, catalog },
          {
            hashKeys,
            markerHash: hash,
            ignoredSecretTypes: secretTypesToIgnore,
            labels: resourceLabelSelector,
          },
        ),
    ),
    provided(
      ChangeReports,
      [OutcomeRecorder, WORKER_METRICS, LOG],
      (outcomes, metrics, log) => new ChangeReports({ outcomes, metrics, log }),
    ),
    provided(
      ChangeProcessor,
      [Catalog, SourceReader, History, Queues, ChangeReports, Notifying, WORKER_OPTIONS],
      (catalog, sources, history, queue, reports, { webhook }, options) =>
        new ChangeProcessor(
          { catalog, sources, history, queue, reports, webhook },
          decisionSettings(options),
        ),
    ),
  ],
  exports: [SourceReader, ChangeProcessor],
})
export class ChangeModule {}
