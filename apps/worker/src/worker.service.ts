import { Inject, Injectable } from '@nestjs/common';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { claimWhenReachable } from '@reroll/redis/catalog/claim';
import { CatalogError } from '@reroll/redis/connection/errors';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { openRedis } from '@reroll/redis/connection/redis';
import { checkServers } from '@reroll/redis/connection/redis-checks';
import { hashKey } from '@reroll/core/record/record-hash';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { installIdentity } from '@reroll/kube/install-identity';
import { trustMessagesOf } from '@reroll/shared/platform/logging/error-fields';
import { ListenError } from '@reroll/shared/platform/http/listening';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import { loadHashKeys } from '@reroll/shared/platform/options/hash-keys';
import { redisFileProblems } from '@reroll/shared/platform/options/groups/redis-files';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { giveBackMemory } from '@reroll/shared/platform/process/memory';
import { serveProfiles } from '@reroll/shared/platform/http/profile-server';
import { redisReports } from '@reroll/shared/platform/process/redis-reports';
import { serveHealth } from '@reroll/shared/platform/http/serve-health';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import type { Registry } from 'prom-client';
import { JobError } from './job-error.ts';
import { runWorker } from './lifecycle.ts';
import { KUBE, LIFECYCLE, LOG, METRICS, OPTIONS, REGISTRY } from './tokens.ts';

const WRONG_SETTINGS = 2;

const GUESSABLE =
  'without --hash-key-file markers and records have plain hashes of Secrets: whoever reads a workload can test guesses of a weak one';

/** The worker process, from its options to its end. */
@Injectable()
export class WorkerService {
  @Inject(OPTIONS) private readonly options!: WorkerOptions;
  @Inject(LOG) private readonly log!: Logger;
  @Inject(REGISTRY) private readonly registry!: Registry;
  @Inject(METRICS) private readonly metrics!: WorkerMetrics;
  @Inject(LIFECYCLE) private readonly lifecycle!: Lifecycle;
  @Inject(KUBE) private readonly client!: KubeClient;

  /** Resolves when the worker runs, or its end has begun; a start that cannot succeed ends the process. */
  async run(): Promise<void> {
    trustMessagesOf(KubeError, CatalogError, ListenError, JobError);
    try {
      await this.#start();
    } catch (error) {
      // The end has begun while it waited for a server; what the end cuts off is no failed start.
      if (this.lifecycle.signal.aborted) return;
      if (error instanceof CatalogError) await this.lifecycle.stop(error.message, WRONG_SETTINGS);
      else await this.lifecycle.fail('The worker could not start', error);
    }
  }

  async #start(): Promise<void> {
    const { options, log, lifecycle, client } = this;
    log.info('Starting Reroll worker', { dryRun: options.dryRun });
    const keys = loadHashKeys(options.hashKeyFile, options.hash === 'hmac-sha256');
    if (!keys.ok) return void (await lifecycle.stop(keys.error, WRONG_SETTINGS));
    if (options.hash === 'auto' && keys.keys.length === 0) log.warning(GUESSABLE);
    const problems = redisFileProblems(options);
    if (problems.length > 0) return void (await lifecycle.stop(problems.join('; '), WRONG_SETTINGS));
    lifecycle.onStop('kubernetes client', 2_000, () => client.close());
    const reports = redisReports(log, this.metrics);
    if (options.redisTlsInsecureSkipVerify) reports.onUnverified();
    const redis = openRedis(options, reports);
    let askRedis = async (): Promise<void> => void (await redis.ping());
    lifecycle.onStop('redis', 2_000, () => redis.disconnect());
    await serveProfiles({ options, log, lifecycle });
    let taking = false;
    await serveHealth({
      address: options.metricsAddr,
      registry: this.registry,
      log,
      lifecycle,
      ready: {
        redis: () => askRedis().then(() => undefined),
        queues: () => (taking && !lifecycle.signal.aborted ? undefined : 'no jobs are taken'),
      },
    });
    const identity = await installIdentity({
      client,
      clusterName: options.clusterName,
      namespace: options.podNamespace,
      signal: lifecycle.signal,
      onRetry: (error) => log.failure('the API server cannot be asked for the cluster yet', error),
    });
    const hashKeys = keys.keys.map((key) => hashKey(Buffer.from(key)));
    const catalog = new Catalog(redis, catalogKeys(identity), hashKeys);
    askRedis = () => catalog.ask();
    const waiting = { signal: lifecycle.signal, hooks: reports };
    if (!(await claimWhenReachable(catalog, identity.uid, waiting))) return;
    if (!(await checkServers(redis, waiting, (policy) => reports.onEvicting(policy)))) return;
    const { metrics } = this;
    runWorker({ options, log, lifecycle, client, redis, catalog, hashKeys, reports, metrics });
    giveBackMemory();
    taking = true;
    log.info('taking jobs', { concurrency: options.concurrency });
  }
}
