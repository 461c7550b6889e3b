import { Inject, Injectable } from '@nestjs/common';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { claimWhenReachable } from '@reroll/redis/catalog/claim';
import { CatalogError } from '@reroll/redis/connection/errors';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { Processes } from '@reroll/redis/processes/processes';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { RolloutWriter } from '@reroll/redis/history/rollout-writer';
import { openRedis, type RedisClient } from '@reroll/redis/connection/redis';
import { RedisRoom } from '@reroll/redis/connection/redis-room';
import { whenReachable, type Waiting } from '@reroll/redis/connection/when-reachable';
import { checkServers } from '@reroll/redis/connection/redis-checks';
import type { Rv } from '@reroll/core/rv';
import { hashKey } from '@reroll/core/record/record-hash';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { EventRecorder } from '@reroll/kube/kube-events';
import { installIdentity } from '@reroll/kube/install-identity';
import { trustMessagesOf } from '@reroll/shared/platform/logging/error-fields';
import { ListenError } from '@reroll/shared/platform/http/listening';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { decisionSettings } from '@reroll/shared/platform/options/decision-settings';
import { historyLimits } from '@reroll/shared/platform/options/history-limits';
import { loadHashKeys } from '@reroll/shared/platform/options/hash-keys';
import { redisFileProblems } from '@reroll/shared/platform/options/groups/redis-files';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import { serveProfiles } from '@reroll/shared/platform/http/profile-server';
import { redisReports, type RedisReports } from '@reroll/shared/platform/process/redis-reports';
import { serveHealth } from '@reroll/shared/platform/http/serve-health';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { Queues } from '@reroll/redis/queue/queues';
import type { Registry } from 'prom-client';
import { recordRedisFull } from './redis-full-event.ts';
import { runWatcher, type WatcherContext } from './lifecycle.ts';
import { writeMetaInfo } from './meta-info.ts';
import { warnOfScope } from './start-warnings.ts';
import { WatcherState } from './state.ts';
import { StreamReports } from './watch/stream-reports.ts';
import { KUBE, LIFECYCLE, LOG, METRICS, OPTIONS, REGISTRY } from './tokens.ts';

const WRONG_SETTINGS = 2;

/** The watcher process, from its options to its end. */
@Injectable()
export class WatcherService {
  @Inject(OPTIONS) private readonly options!: WatcherOptions;
  @Inject(LOG) private readonly log!: Logger;
  @Inject(REGISTRY) private readonly registry!: Registry;
  @Inject(METRICS) private readonly metrics!: WatcherMetrics;
  @Inject(LIFECYCLE) private readonly lifecycle!: Lifecycle;
  @Inject(KUBE) private readonly client!: KubeClient;

  /** Resolves when the watcher runs, or its end has begun; a start that cannot succeed ends the process. */
  async run(): Promise<void> {
    trustMessagesOf(KubeError, CatalogError, ListenError);
    try {
      await this.#start();
    } catch (error) {
      // The end has begun while it waited for a server; what the end cuts off is no failed start.
      if (this.lifecycle.signal.aborted) return;
      if (error instanceof CatalogError) await this.lifecycle.stop(error.message, WRONG_SETTINGS);
      else await this.lifecycle.fail('The watcher could not start', error);
    }
  }

  async #start(): Promise<void> {
    const { options, log, lifecycle, client, metrics } = this;
    log.info('Starting Reroll watcher');
    warnOfScope(options, log);
    const keys = loadHashKeys(options.hashKeyFile);
    if (!keys.ok) return void (await lifecycle.stop(keys.error, WRONG_SETTINGS));
    const problems = redisFileProblems(options);
    if (problems.length > 0) return void (await lifecycle.stop(problems.join('; '), WRONG_SETTINGS));
    lifecycle.onStop('kubernetes client', 2_000, () => client.close());
    const state = new WatcherState(metrics);
    const reports = redisReports(log, metrics);
    const redis = this.#openRedis(reports);
    let askRedis = async (): Promise<void> => void (await redis.ping());
    await serveProfiles({ options, log, lifecycle });
    await this.#serveHealth(state, () => askRedis());
    const identity = await installIdentity({
      client,
      clusterName: options.clusterName,
      namespace: options.podNamespace,
      signal: lifecycle.signal,
      onRetry: (error) => log.failure('the API server cannot be asked for the cluster yet', error),
    });
    void writeMetaInfo(client, options, log);
    const catalog = new Catalog(redis, catalogKeys(identity));
    askRedis = () => catalog.ask();
    if (!(await claimWhenReachable(catalog, identity.uid, this.#waiting(reports)))) return;
    const earlierTerm = await this.#termBefore({ redis, catalog, reports });
    if (earlierTerm === undefined) return;
    await runWatcher({
      client,
      catalog,
      options,
      earlierTerm,
      ...this.#writers(redis, catalog, { state, reports }),
      lifecycle,
      state,
      metrics,
      log,
      decision: decisionSettings(options),
      hashKeys: keys.keys.map((key) => hashKey(Buffer.from(key))),
      reports: new StreamReports(metrics, log, () => state.isLeading),
    });
  }

  #waiting(hooks: RedisReports): Waiting {
    return { signal: this.lifecycle.signal, hooks };
  }

  /** Of the leader that wrote last. Undefined only if the end has begun. */
  async #termBefore(by: {
    redis: RedisClient;
    catalog: Catalog;
    reports: RedisReports;
  }): Promise<Rv | undefined> {
    const waiting = this.#waiting(by.reports);
    if (!(await checkServers(by.redis, waiting, (policy) => by.reports.onEvicting(policy)))) return undefined;
    return await whenReachable(() => by.catalog.lastTerm(), waiting);
  }

  /** Ready when Redis answers and every stream is complete, leader or standby. */
  async #serveHealth(state: WatcherState, askRedis: () => Promise<void>): Promise<void> {
    const { options, registry, log, lifecycle } = this;
    const address = options.metricsAddr;
    const redis = (): Promise<undefined> => askRedis().then(() => undefined);
    const streams = (): string | undefined => (state.isSynced() ? undefined : 'not every list is complete');
    await serveHealth({ address, registry, log, lifecycle, ready: { redis, streams } });
  }

  #writers(
    redis: RedisClient,
    catalog: Catalog,
    by: { state: WatcherState; reports: RedisReports },
  ): Pick<WatcherContext, 'rolloutWriter' | 'processes' | 'requests' | 'queues' | 'room' | 'events'> {
    const events = this.#events();
    const room = this.#room(redis, catalog, { ...by, events });
    const isFull = (): boolean => room.isFull;
    return {
      events,
      room,
      rolloutWriter: new RolloutWriter(redis, catalog.keys, { ...historyLimits(this.options), isFull }),
      processes: new Processes(redis, catalog.keys.processes),
      requests: new ReloadRequests(redis, catalog.keys.requests),
      queues: this.#queues(redis, catalog),
    };
  }

  /** The leader trims the history, and tells those who look at the cluster's Events. */
  #room(
    redis: RedisClient,
    { keys }: Catalog,
    { state, reports, events }: { state: WatcherState; reports: RedisReports; events: EventRecorder },
  ): RedisRoom {
    const { client, log } = this;
    const { podNamespace: namespace, leaseName: name } = this.options;
    return new RedisRoom({
      redis,
      keys,
      trims: () => state.isLeading,
      onRoom: (isFull) => {
        reports.onRoom(isFull);
        if (!isFull || !state.isLeading) return;
        recordRedisFull({ client, events, lease: { namespace, name } }).catch((error: unknown) =>
          log.failure('the Event about Redis could not be recorded', error),
        );
      },
      onLook: (memory) => reports.onLook(memory),
      onError: (error) => log.failure('the history could not be dropped', error),
    });
  }

  #events(): EventRecorder {
    const { client, lifecycle, options } = this;
    const events = new EventRecorder({ client, instance: options.podName });
    lifecycle.onStop('events', 1_000, () => events.flush(500));
    return events;
  }

  #openRedis(reports: RedisReports): RedisClient {
    if (this.options.redisTlsInsecureSkipVerify) reports.onUnverified();
    const redis = openRedis(this.options, reports);
    this.lifecycle.onStop('redis', 2_000, () => redis.disconnect());
    return redis;
  }

  #queues(redis: RedisClient, catalog: Catalog): Queues {
    const { prefix } = catalog.keys;
    const { debounce, attempts, backoff } = this.options;
    const queues = new Queues({ connection: redis, prefix, debounce, attempts, backoff });
    this.lifecycle.onStop('queues', 2_000, () => queues.close());
    return queues;
  }
}
