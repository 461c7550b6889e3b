import { Inject, Injectable } from '@nestjs/common';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { claimWhenReachable } from '@reroll/redis/catalog/claim';
import { CatalogError } from '@reroll/redis/connection/errors';
import { History } from '@reroll/redis/history/history';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { Processes } from '@reroll/redis/processes/processes';
import { openRedis, type RedisClient } from '@reroll/redis/connection/redis';
import { RedisRoom } from '@reroll/redis/connection/redis-room';
import { checkServers } from '@reroll/redis/connection/redis-checks';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { installIdentity } from '@reroll/kube/install-identity';
import { trustMessagesOf } from '@reroll/shared/platform/logging/error-fields';
import { ListenError } from '@reroll/shared/platform/http/listening';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { giveBackMemory } from '@reroll/shared/platform/process/memory';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import { historyLimits } from '@reroll/shared/platform/options/history-limits';
import { redisFileProblems } from '@reroll/shared/platform/options/groups/redis-files';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import { serveProfiles } from '@reroll/shared/platform/http/profile-server';
import { redisReports, type RedisReports } from '@reroll/shared/platform/process/redis-reports';
import { serveHealth } from '@reroll/shared/platform/http/serve-health';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { Queues } from '@reroll/redis/queue/queues';
import type { Registry } from 'prom-client';
import { startHeartbeat } from './heartbeat.ts';
import type { ApiContext } from './api.module.ts';
import { authenticatorOf } from './auth/authenticator.ts';
import { StaticTokensError } from './auth/static-tokens.ts';
import { CertificateError } from './http/api-server.ts';
import { JobBoard } from './jobs/job-board.ts';
import { beginReading } from './reading.ts';
import { serveApi } from './serve-api.ts';
import { KUBE, LIFECYCLE, LOG, METRICS, OPTIONS, REGISTRY } from './tokens.ts';

const WRONG_SETTINGS = 2;
const SETTINGS = [CatalogError, StaticTokensError, CertificateError] as const;

/** The admin process, from its options to its end. */
@Injectable()
export class AdminService {
  @Inject(OPTIONS) private readonly options!: AdminOptions;
  @Inject(LOG) private readonly log!: Logger;
  @Inject(REGISTRY) private readonly registry!: Registry;
  @Inject(METRICS) private readonly metrics!: AdminMetrics;
  @Inject(LIFECYCLE) private readonly lifecycle!: Lifecycle;
  @Inject(KUBE) private readonly client!: KubeClient;

  /** Resolves when the API is served, or the end has begun; a start that cannot succeed ends the process. */
  async run(): Promise<void> {
    trustMessagesOf(KubeError, ListenError, ...SETTINGS);
    try {
      await this.#start();
    } catch (error) {
      // The end has begun while it waited for a server; what the end cuts off is no failed start.
      if (this.lifecycle.signal.aborted) return;
      const isSetting = SETTINGS.some((each) => error instanceof each);
      if (isSetting && error instanceof Error) await this.lifecycle.stop(error.message, WRONG_SETTINGS);
      else await this.lifecycle.fail('The admin could not start', error);
    }
  }

  async #start(): Promise<void> {
    const { options, log, lifecycle, client } = this;
    log.info('Starting Reroll admin', { auth: options.auth, anonymous: options.anonymous });
    const problems = redisFileProblems(options);
    if (problems.length > 0) return void (await lifecycle.stop(problems.join('; '), WRONG_SETTINGS));
    const authenticator = authenticatorOf({ options, log, client, metrics: this.metrics });
    lifecycle.onStop('kubernetes client', 2_000, () => client.close());
    const reports = redisReports(log, this.metrics);
    if (options.redisTlsInsecureSkipVerify) reports.onUnverified();
    const redis = openRedis(options, reports);
    lifecycle.onStop('redis', 2_000, () => redis.disconnect());
    let askRedis = async (): Promise<void> => void (await redis.ping());
    await serveProfiles({ options, log, lifecycle });
    const { registry } = this;
    let serving = false;
    await serveHealth({
      address: options.metricsAddr,
      registry,
      log,
      lifecycle,
      ready: {
        redis: () => askRedis().then(() => undefined),
        api: () => (serving && !lifecycle.signal.aborted ? undefined : 'the API is not served'),
      },
    });
    const identity = await installIdentity({
      client,
      clusterName: options.clusterName,
      namespace: options.podNamespace,
      signal: lifecycle.signal,
      onRetry: (error) => log.failure('the API server cannot be asked for the cluster yet', error),
    });
    const catalog = new Catalog(redis, catalogKeys(identity));
    askRedis = () => catalog.ask();
    const waiting = { signal: lifecycle.signal, hooks: reports };
    if (!(await claimWhenReachable(catalog, identity.uid, waiting))) return;
    if (!(await checkServers(redis, waiting, (policy) => reports.onEvicting(policy)))) return;
    const reading = await beginReading({ redis, catalog, metrics: this.metrics, log, lifecycle });
    if (!reading) return;
    const room = this.#roomOf(redis, catalog, reports);
    await serveApi(this.#context({ identity, redis, catalog, authenticator, reading, room }));
    giveBackMemory();
    serving = true;
  }

  #roomOf(redis: RedisClient, { keys }: Catalog, reports: RedisReports): RedisRoom {
    const onError = (error: unknown): void => this.log.failure('the history could not be dropped', error);
    return new RedisRoom({ redis, keys, trims: () => false, ...reports, onError });
  }

  #context(
    by: Pick<ApiContext, 'identity' | 'redis' | 'catalog' | 'authenticator' | 'reading' | 'room'>,
  ): ApiContext {
    const { options, log, metrics, lifecycle, client } = this;
    const { redis, catalog } = by;
    const { attempts, backoff } = options;
    const { prefix } = catalog.keys;
    const queues = new Queues({ connection: redis, prefix, debounce: 0, attempts, backoff });
    lifecycle.onStop('queues', 2_000, () => queues.close());
    const board = new JobBoard({ connection: redis, prefix });
    lifecycle.onStop('views of the queues', 2_000, () => board.close());
    const history = new History(redis, catalog.keys, historyLimits(options));
    const processes = new Processes(redis, catalog.keys.processes);
    startHeartbeat({ processes, name: options.podName, room: by.room, metrics, lifecycle, log });
    return { options, log, metrics, lifecycle, client, history, processes, queues, board, ...by };
  }
}
