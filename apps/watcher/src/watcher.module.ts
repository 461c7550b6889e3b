import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { KubeClient } from '@reroll/kube/client/connection';
import { EventRecorder } from '@reroll/kube/kube-events';
import { CatalogModule } from '@reroll/nest/catalog.module';
import { HealthModule, Readiness } from '@reroll/nest/health.module';
import { KubeModule } from '@reroll/nest/kube.module';
import { Process } from '@reroll/nest/process';
import { provided } from '@reroll/nest/provided';
import { QueueModule } from '@reroll/nest/queue.module';
import { RedisConnection, RedisModule } from '@reroll/nest/redis.module';
import { IDENTITY, LOG } from '@reroll/nest/tokens';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { watcherMetrics, type WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { WatcherHeartbeat } from './heartbeat.service.ts';
import { Leadership } from './leadership.service.ts';
import { writeMetaInfo } from './meta-info.ts';
import { beginAnew } from './publish/restored-etcd.ts';
import { Publishing } from './publishing.service.ts';
import { FullRedisEvents } from './redis-full-event.service.ts';
import { RolloutWatch } from './rollout-watch.service.ts';
import { warnOfScope } from './start-warnings.ts';
import { WatcherState } from './state.ts';
import { BEGIN_ANEW, EARLIER_TERM, META_INFO, STREAMS, WATCHER_METRICS, WATCHER_OPTIONS } from './tokens.ts';
import { OlderObjects } from './watch/older-objects.ts';
import { StreamReports } from './watch/stream-reports.ts';
import { WatcherService } from './watcher.service.ts';

const PROVIDERS: readonly Provider[] = [
  provided(WatcherState, [WATCHER_METRICS, Readiness], stateOf),
  provided(META_INFO, [KubeClient, WATCHER_OPTIONS, LOG, IDENTITY], (client, options, log) => {
    // Written in the background.
    void writeMetaInfo(client, options, log);
    return true;
  }),
  provided(EARLIER_TERM, [RedisConnection, Catalog], (redis, catalog) =>
    redis.whenReachable(() => catalog.lastTerm()),
  ),
  provided(
    EventRecorder,
    [KubeClient, WATCHER_OPTIONS, Lifecycle],
    (client, { podName: instance }, lifecycle) => {
      const events = new EventRecorder({ client, instance });
      lifecycle.onStop('events', 1_000, () => events.flush(500));
      return events;
    },
  ),
  provided(
    BEGIN_ANEW,
    [KubeClient, Catalog, EventRecorder, WATCHER_OPTIONS, WATCHER_METRICS, Process],
    (client, catalog, events, options, metrics, { lifecycle, log }) =>
      (restored) =>
        void beginAnew({ client, catalog, events, options, lifecycle, metrics, log }, restored),
  ),
  Leadership,
  provided(
    OlderObjects,
    [KubeClient, Process, Leadership],
    (client, { lifecycle: { signal }, log }, leadership) =>
      new OlderObjects({ client, signal, log, onRestored: (object) => leadership.retire(object) }),
  ),
  provided(
    StreamReports,
    [WATCHER_METRICS, LOG, WatcherState],
    (metrics, log, state) => new StreamReports(metrics, log, () => state.isLeading),
  ),
  provided(
    STREAMS,
    [KubeClient, Catalog, WATCHER_OPTIONS, StreamReports, OlderObjects, Process],
    (client, catalog, options, reports, olderObjects, { hashKeys, log }) => ({
      client,
      catalog,
      options,
      hashKeys,
      reports,
      log,
      olderObjects,
    }),
  ),
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
