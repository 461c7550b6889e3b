import { Module } from '@nestjs/common';
import { KubeClient } from '@reroll/kube/client/connection';
import { NamespaceReader } from '@reroll/kube/namespaces/namespace-reader';
import { EventRecorder } from '@reroll/kube/kube-events';
import { CatalogModule } from '@reroll/nest/catalog.module';
import { KubeModule } from '@reroll/nest/kube.module';
import { Process } from '@reroll/nest/process';
import { QueueModule } from '@reroll/nest/queue.module';
import { RedisModule } from '@reroll/nest/redis.module';
import { LOG, REDIS } from '@reroll/nest/tokens';
import { provided } from '@reroll/nest/provided';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { WaveReader } from '@reroll/redis/catalog/wave-reader';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { Rollouts } from '@reroll/redis/history/rollouts';
import { RateBudget } from '@reroll/redis/processes/rate';
import { Queues } from '@reroll/redis/queue/queues';
import { RolloutSlots } from '@reroll/redis/queue/rollout-slots';
import { decisionSettings } from '@reroll/shared/platform/options/decision-settings';
import { explainSettings, holdDefaults } from '@reroll/shared/platform/options/explain-settings';
import { adoptStaleOf, triggersOf } from '@reroll/shared/platform/options/triggers';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { ChangeModule } from '../change/change.module.ts';
import { SourceReader } from '../change/source-reader.ts';
import { NotifyModule } from '../notify/notify.module.ts';
import { Notifying } from '../notify/notifying.service.ts';
import { OutcomeRecorder } from '../outcome-recorder.ts';
import { OutcomesModule } from '../outcomes.module.ts';
import { Activity } from '../queue-runner.ts';
import { RELOAD_PORTS, RELOAD_SETTINGS, RELOAD_WAYS, WORKER_METRICS, WORKER_OPTIONS } from '../tokens.ts';
import { ReloadHolds } from './reload-holds.ts';
import { ReloadReports } from './reload-reports.ts';
import { ReloadProcessor } from './reload.processor.ts';
import { ResumeProcessor } from './resume.processor.ts';
import { reloadWays } from './send/reload-ways.ts';
import { WorkloadReader } from './workload-reader.ts';

/** Reload jobs, and the resume jobs that end their pauses. */
@Module({
  imports: [KubeModule, RedisModule, CatalogModule, QueueModule, ChangeModule, OutcomesModule, NotifyModule],
  providers: [
    provided(
      EventRecorder,
      [KubeClient, WORKER_OPTIONS, WORKER_METRICS, Activity, Lifecycle],
      (client, { podName: instance }, metrics, activity, lifecycle) => {
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
      },
    ),
    provided(
      RateBudget,
      [REDIS, Catalog, WORKER_OPTIONS],
      (redis, { keys }, { maxReloadsPerMinute }) => new RateBudget(redis, keys.budget, maxReloadsPerMinute),
    ),
    provided(RELOAD_WAYS, [KubeClient, WORKER_OPTIONS, Process], (client, options, { hashKeys }) => {
      const { reloadStrategy: strategy, cronjobStrategy: cronJobStrategy } = options;
      const { fieldManager, recreateFinishedJobs } = options;
      const { keys } = decisionSettings(options);
      const markerAnnotation = keys.lastReloadedFrom;
      return reloadWays({
        client,
        strategy,
        fieldManager,
        keys,
        hashKeys,
        markerAnnotation,
        cronJobStrategy,
        recreateFinishedJobs,
      });
    }),
    provided(RELOAD_SETTINGS, [WORKER_OPTIONS, Notifying], (options, { webhook }) => ({
      dryRun: options.dryRun,
      adoptStale: adoptStaleOf(options),
      onDelete: triggersOf(options).onDelete,
      decision: decisionSettings(options),
      notifyOnly: webhook !== undefined,
      patchesUnread: !options.dryRun && webhook === undefined && isPlain(options),
    })),
    provided(
      WorkloadReader,
      [KubeClient, Catalog, WORKER_OPTIONS],
      (client, catalog, options) => new WorkloadReader(client, catalog, decisionSettings(options)),
    ),
    provided(
      ReloadReports,
      [Catalog, SourceReader, EventRecorder, OutcomeRecorder, Notifying, WORKER_METRICS, LOG],
      (catalog, sources, events, outcomes, { alerts }, metrics, log) =>
        new ReloadReports({
          catalog,
          sources,
          events,
          outcomes,
          alerts,
          metrics,
          log,
        }),
    ),
    provided(
      WaveReader,
      [REDIS, Catalog],
      (redis, catalog) => new WaveReader(catalog, new Rollouts(redis, catalog.keys.rollouts)),
    ),
    provided(
      ReloadHolds,
      [KubeClient, Queues, WaveReader, RolloutSlots, WORKER_OPTIONS, LOG, Lifecycle],
      (client, queues, waves, slots, options, log, lifecycle) => {
        const { podNamespace: ownNamespace, dryRun: isDryRun } = options;
        const waveSettings = explainSettings(options);
        const settings = { defaults: holdDefaults(options), ownNamespace, isDryRun, waveSettings };
        const namespaces = new NamespaceReader(client);
        const ports = { namespaces, queues, waves, slots, apiTime: () => client.apiTime() };
        const holds = new ReloadHolds(ports, settings);
        // With rights in some namespaces only, each is read when it matters.
        if (options.namespaces.length > 0) return holds;
        namespaces.follow({
          onChange: (namespace) =>
            void holds
              .namespaceChanged(namespace)
              .catch((error: unknown) =>
                log.failure('cannot bring held workloads forward', error, { namespace }),
              ),
          onFailure: (error) =>
            error.status === 403
              ? log.failure('cannot watch Namespaces, so they are read before reloads', error)
              : log.failure('watching Namespaces failed, retrying', error),
        });
        lifecycle.onStop('namespaces', 2_000, () => namespaces.stop());
        return holds;
      },
    ),
    provided(
      RELOAD_PORTS,
      [
        Catalog,
        ReloadRequests,
        WorkloadReader,
        SourceReader,
        ReloadHolds,
        RELOAD_WAYS,
        RateBudget,
        ReloadReports,
      ],
      (catalog, requests, workloads, sources, holds, ways, budget, reports) => ({
        catalog,
        requests,
        workloads,
        sources,
        holds,
        ways,
        budget,
        reports,
      }),
    ),
    provided(
      ReloadProcessor,
      [RELOAD_PORTS, RELOAD_SETTINGS],
      (ports, settings) => new ReloadProcessor(ports, settings),
    ),
    provided(ResumeProcessor, [KubeClient, WORKER_OPTIONS, LOG], (client, options, log) => {
      const { fieldManager, dryRun } = options;
      const { keys } = decisionSettings(options);
      return new ResumeProcessor({ client, keys, fieldManager, dryRun, log });
    }),
  ],
  exports: [RateBudget, ReloadProcessor, ResumeProcessor],
})
export class ReloadModule {}

/** Whether a reload writes an environment variable and nothing has to be adopted. Anything else needs the whole pod template. */
function isPlain({ reloadStrategy, adopt }: WorkerOptions): boolean {
  return reloadStrategy === 'env-vars' && adopt.length === 0;
}
