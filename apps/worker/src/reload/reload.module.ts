import { Module } from '@nestjs/common';
import { KubeClient } from '@reroll/kube/client/connection';
import { EventRecorder } from '@reroll/kube/kube-events';
import { CatalogModule } from '@reroll/nest/catalog.module';
import { KubeModule } from '@reroll/nest/kube.module';
import { RedisModule } from '@reroll/nest/redis.module';
import { LOG, REDIS } from '@reroll/nest/tokens';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { RateBudget } from '@reroll/redis/processes/rate';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import { decisionSettings } from '@reroll/shared/platform/options/decision-settings';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { adoptStaleOf, triggersOf } from '@reroll/shared/platform/options/triggers';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { ChangeModule } from '../change/change.module.ts';
import { SourceReader } from '../change/source-reader.ts';
import { NotifyModule } from '../notify/notify.module.ts';
import { Notifying } from '../notify/notifying.service.ts';
import { OutcomeRecorder } from '../outcome-recorder.ts';
import { OutcomesModule } from '../outcomes.module.ts';
import { Activity } from '../queue-runner.ts';
import { RELOAD_SETTINGS, RELOAD_WAYS, WORKER_METRICS, WORKER_OPTIONS } from '../tokens.ts';
import { ReloadReports } from './reload-reports.ts';
import { ReloadProcessor, type ReloadSettings } from './reload.processor.ts';
import { ResumeProcessor } from './resume.processor.ts';
import { reloadWays, type ReloadWays } from './send/reload-ways.ts';
import { WorkloadReader } from './workload-reader.ts';

/** Reload jobs, and the resume jobs that end their pauses. */
@Module({
  imports: [KubeModule, RedisModule, CatalogModule, ChangeModule, OutcomesModule, NotifyModule],
  providers: [
    {
      provide: EventRecorder,
      inject: [KubeClient, WORKER_OPTIONS, WORKER_METRICS, Activity, Lifecycle],
      useFactory: openEvents,
    },
    { provide: RateBudget, inject: [REDIS, Catalog, WORKER_OPTIONS], useFactory: rateBudget },
    { provide: RELOAD_WAYS, inject: [KubeClient, WORKER_OPTIONS], useFactory: waysOf },
    { provide: RELOAD_SETTINGS, inject: [WORKER_OPTIONS, Notifying], useFactory: settingsOf },
    { provide: WorkloadReader, inject: [KubeClient, Catalog, WORKER_OPTIONS], useFactory: workloadReader },
    {
      provide: ReloadReports,
      inject: [Catalog, EventRecorder, OutcomeRecorder, Notifying, WORKER_METRICS, LOG],
      useFactory: reloadReports,
    },
    {
      provide: ReloadProcessor,
      inject: [
        Catalog,
        ReloadRequests,
        WorkloadReader,
        SourceReader,
        RELOAD_WAYS,
        RateBudget,
        ReloadReports,
        RELOAD_SETTINGS,
      ],
      useFactory: reloadProcessor,
    },
    { provide: ResumeProcessor, inject: [KubeClient, WORKER_OPTIONS, LOG], useFactory: resumeProcessor },
  ],
  exports: [RateBudget, ReloadProcessor, ResumeProcessor],
})
export class ReloadModule {}

function openEvents(
  client: KubeClient,
  { podName: instance }: WorkerOptions,
  metrics: WorkerMetrics,
  activity: Activity,
  lifecycle: Lifecycle,
): EventRecorder {
  const events = new EventRecorder({
    client,
    instance,
    isBusy: () => activity.isBusy,
    onResult: (result) => {
      if (result !== 'posted') metrics.kubeEventsDropped.inc();
    },
  });
  lifecycle.onStop('events', 3_000, () => events.flush(2_500));
  return events;
}

function rateBudget(redis: RedisClient, { keys }: Catalog, options: WorkerOptions): RateBudget {
  return new RateBudget(redis, keys.budget, options.maxReloadsPerMinute);
}

function waysOf(client: KubeClient, options: WorkerOptions): ReloadWays {
  const { keys } = decisionSettings(options);
  return reloadWays({
    client,
    strategy: options.reloadStrategy,
    fieldManager: options.fieldManager,
    keys,
    markerAnnotation: keys.lastReloadedFrom,
    cronJobStrategy: options.cronjobStrategy,
    recreateFinishedJobs: options.recreateFinishedJobs,
  });
}

function settingsOf(options: WorkerOptions, { webhook }: Notifying): ReloadSettings {
  return {
    dryRun: options.dryRun,
    adoptStale: adoptStaleOf(options),
    onDelete: triggersOf(options).onDelete,
    decision: decisionSettings(options),
    notifyOnly: webhook !== undefined,
  };
}

function workloadReader(client: KubeClient, catalog: Catalog, options: WorkerOptions): WorkloadReader {
  return new WorkloadReader(client, catalog, decisionSettings(options));
}

function reloadReports(
  catalog: Catalog,
  events: EventRecorder,
  outcomes: OutcomeRecorder,
  { alerts }: Notifying,
  metrics: WorkerMetrics,
  log: Logger,
): ReloadReports {
  return new ReloadReports({ catalog, events, outcomes, alerts, metrics, log });
}

function reloadProcessor(
  catalog: Catalog,
  requests: ReloadRequests,
  workloads: WorkloadReader,
  sources: SourceReader,
  ways: ReloadWays,
  budget: RateBudget,
  reports: ReloadReports,
  settings: ReloadSettings,
): ReloadProcessor {
  return new ReloadProcessor({ catalog, requests, workloads, sources, ways, budget, reports }, settings);
}

function resumeProcessor(client: KubeClient, options: WorkerOptions, log: Logger): ResumeProcessor {
  const { fieldManager, dryRun } = options;
  const { keys } = decisionSettings(options);
  return new ResumeProcessor({ client, keys, fieldManager, dryRun, log });
}
