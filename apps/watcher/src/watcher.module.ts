import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import type { Rv } from '@reroll/core/rv';
import { KubeClient } from '@reroll/kube/client/connection';
import { EventRecorder } from '@reroll/kube/kube-events';
import { CatalogModule } from '@reroll/nest/catalog.module';
import { HealthModule, Readiness } from '@reroll/nest/health.module';
import { KubeModule } from '@reroll/nest/kube.module';
import { Process } from '@reroll/nest/process';
import { QueueModule } from '@reroll/nest/queue.module';
import { RedisConnection, RedisModule } from '@reroll/nest/redis.module';
import { IDENTITY, LOG } from '@reroll/nest/tokens';
import { Catalog } from '@reroll/redis/catalog/catalog';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { watcherMetrics, type WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { WatcherHeartbeat } from './heartbeat.service.ts';
import { Leadership, type BeginAnew } from './leadership.service.ts';
import { writeMetaInfo } from './meta-info.ts';
import { beginAnew } from './publish/restored-etcd.ts';
import { Publishing } from './publishing.service.ts';
import { FullRedisEvents } from './redis-full-event.service.ts';
import { RolloutWatch } from './rollout-watch.service.ts';
import { warnOfScope } from './start-warnings.ts';
import { WatcherState } from './state.ts';
import { BEGIN_ANEW, EARLIER_TERM, META_INFO, STREAMS, WATCHER_METRICS, WATCHER_OPTIONS } from './tokens.ts';
import type { StreamsContext } from './watch/kind-streams.ts';
import { OlderObjects } from './watch/older-objects.ts';
import { StreamReports } from './watch/stream-reports.ts';
import { WatcherService } from './watcher.service.ts';

const PROVIDERS: readonly Provider[] = [
  { provide: WatcherState, inject: [WATCHER_METRICS, Readiness], useFactory: stateOf },
  {
    provide: META_INFO,
    inject: [KubeClient, WATCHER_OPTIONS, LOG, IDENTITY],
    // Written in the background.
    useFactory: (client: KubeClient, of: WatcherOptions, log: Logger) => {
      void writeMetaInfo(client, of, log);
      return true;
    },
  },
  {
    provide: EARLIER_TERM,
    inject: [RedisConnection, Catalog],
    useFactory: (redis: RedisConnection, catalog: Catalog): Promise<Rv> =>
      redis.whenReachable(() => catalog.lastTerm()),
  },
  {
    provide: EventRecorder,
    inject: [KubeClient, WATCHER_OPTIONS, Lifecycle],
    useFactory: openEvents,
  },
  {
    provide: BEGIN_ANEW,
    inject: [KubeClient, Catalog, EventRecorder, WATCHER_OPTIONS, WATCHER_METRICS, Process],
    useFactory: afterRestore,
  },
  Leadership,
  { provide: OlderObjects, inject: [KubeClient, Process, Leadership], useFactory: olderObjects },
  {
    provide: StreamReports,
    inject: [WATCHER_METRICS, LOG, WatcherState],
    useFactory: (metrics: WatcherMetrics, log: Logger, state: WatcherState) =>
      new StreamReports(metrics, log, () => state.isLeading),
  },
  {
    provide: STREAMS,
    inject: [KubeClient, Catalog, WATCHER_OPTIONS, StreamReports, OlderObjects, Process],
    useFactory: streamsContext,
  },
  FullRedisEvents,
  WatcherHeartbeat,
  RolloutWatch,
  Publishing,
  WatcherService,
];

@Module({})
export class WatcherModule {
  /** Throws a `SettingsError`. */
  static of(options: WatcherOptions, process: Process): DynamicModule {
    process.log.info('Starting Reroll watcher');
    warnOfScope(options, process.log);
    // An unusable key file ends the process before any connection is opened.
    void process.hashKeys;
    return {
      module: WatcherModule,
      imports: [HealthModule, KubeModule, RedisModule, CatalogModule, QueueModule],
      providers: [
        { provide: WATCHER_OPTIONS, useValue: options },
        { provide: WATCHER_METRICS, useValue: watcherMetrics(process.registry) },
        ...PROVIDERS,
      ],
    };
  }
}

/** A watcher is ready when every stream is complete, whether it leads or not. */
function stateOf(metrics: WatcherMetrics, readiness: Readiness): WatcherState {
  const state = new WatcherState(metrics);
  readiness.add('streams', () => (state.isSynced() ? undefined : 'not every list is complete'));
  return state;
}

function openEvents(client: KubeClient, { podName }: WatcherOptions, lifecycle: Lifecycle): EventRecorder {
  const events = new EventRecorder({ client, instance: podName });
  lifecycle.onStop('events', 1_000, () => events.flush(500));
  return events;
}

function afterRestore(
  client: KubeClient,
  catalog: Catalog,
  events: EventRecorder,
  options: WatcherOptions,
  metrics: WatcherMetrics,
  { lifecycle, log }: Process,
): BeginAnew {
  return (restored) =>
    void beginAnew({ client, catalog, events, options, lifecycle, metrics, log }, restored);
}

function olderObjects(client: KubeClient, { lifecycle, log }: Process, leadership: Leadership): OlderObjects {
  const { signal } = lifecycle;
  return new OlderObjects({ client, signal, log, onRestored: (object) => leadership.retire(object) });
}

function streamsContext(
  client: KubeClient,
  catalog: Catalog,
  options: WatcherOptions,
  reports: StreamReports,
  older: OlderObjects,
  { hashKeys, log }: Process,
): StreamsContext {
  return { client, catalog, options, hashKeys, reports, log, olderObjects: older };
}
