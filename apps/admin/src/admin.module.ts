/**
 * The API. To serve an operation of `libs/shared/src/api/operations.ts`:
 *
 * 1. Add a controller in `controllers/` (one a resource), and list it in `CONTROLLERS` below.
 * 2. Add a method with `@Serves('<operation id>')`. It takes `Input<'<id>'>`, with `params`, `query` and `body` as their
 *    schemas read them, and resolves with `AnswerOf<'<id>'>`. The table defines method, path and status.
 * 3. The caller is already known and may call the operation. The method limits what they see: `const { all, sees } =
 *    await visibility(caller)`. For what they do not see, `throw new ProblemError('NotFound')`, and leave it out of every
 *    list and count.
 * 4. Throw any error: a `ProblemError` with a code of `api/problem.ts`. Errors of Redis and of the API server become 503,
 *    others 500.
 * 5. Dependencies are parameters of the constructor: a class that `@reroll/nest` provides (`Catalog`, `History`,
 *    `Queues`, …), a token (`@Inject(REDIS)`), or a provider that you add here.
 *
 * Server-sent events (an operation without `answer`): write to `response` and resolve when `gone` fires.
 */
import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { KubeClient } from '@reroll/kube/client/connection';
import { CatalogModule } from '@reroll/nest/catalog.module';
import { HealthModule } from '@reroll/nest/health.module';
import { KubeModule } from '@reroll/nest/kube.module';
import { Process } from '@reroll/nest/process';
import { provided } from '@reroll/nest/provided';
import { QueueModule } from '@reroll/nest/queue.module';
import { RedisModule } from '@reroll/nest/redis.module';
import { LOG, REDIS } from '@reroll/nest/tokens';
import { endIfUnusable } from '@reroll/nest/unusable-queues';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { WaveReader } from '@reroll/redis/catalog/wave-reader';
import { openForWaiting, type RedisClient } from '@reroll/redis/connection/redis';
import { History } from '@reroll/redis/history/history';
import { HistoryReader } from '@reroll/redis/history/history-reader';
import { Rollouts } from '@reroll/redis/history/rollouts';
import { Queues } from '@reroll/redis/queue/queues';
import { adminMetrics, type AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { authenticatorOf } from './auth/authenticator.ts';
import { BulkTargets } from './bulk/bulk-targets.ts';
import { BulkWrites } from './bulk/bulk-writes.service.ts';
import { Consumers } from './consumers/consumers.ts';
import { AuditController } from './controllers/audit.controller.ts';
import { BulkController } from './controllers/bulk.controller.ts';
import { ChangesController } from './controllers/changes.controller.ts';
import { EventsController } from './controllers/events.controller.ts';
import { HoldsController } from './controllers/holds.controller.ts';
import { JobsController } from './controllers/jobs.controller.ts';
import { LimitsController } from './controllers/limits.controller.ts';
import { NamespacesController } from './controllers/namespaces.controller.ts';
import { QueuesController } from './controllers/queues.controller.ts';
import { ReloadsController } from './controllers/reloads.controller.ts';
import { SourcesController } from './controllers/sources.controller.ts';
import { StatusController } from './controllers/status.controller.ts';
import { WhyController } from './controllers/why.controller.ts';
import { WorkloadsController } from './controllers/workloads.controller.ts';
import { LiveStates } from './history/live-states.ts';
import { ReadModel } from './history/read-model.ts';
import { ReloadJobs } from './history/reload-jobs.ts';
import { CallerGuard } from './http/caller.guard.ts';
import { Cursors } from './http/cursors.ts';
import { DeadlineInterceptor } from './http/deadline.interceptor.ts';
import { ProblemFilter } from './http/problem.filter.ts';
import { ActorLimit } from './http/limits/rate-limits.ts';
import { JobBoard } from './jobs/job-board.ts';
import { JobRetries } from './jobs/job-retries.ts';
import { NamespaceHoldsReader } from './objects/namespace-holds.ts';
import { ObjectFacts } from './objects/object-facts.ts';
import { WavePlans } from './objects/wave-plans.ts';
import { ApiState } from './serve-api.ts';
import { ShownHashes } from './shown-hashes.ts';
import { Servers } from './status/servers.service.ts';
import { AuditLog } from './steering/audit-log.ts';
import { CallersCluster } from './steering/callers-cluster.ts';
import { HoldWrites } from './steering/hold-writes.service.ts';
import { Idempotency } from './steering/idempotency.ts';
import { ReloadWrites } from './steering/reload-writes.service.ts';
import { RequestedHolds } from './steering/requested-holds.ts';
import { Writes } from './steering/writes.ts';
import { ADMIN_METRICS, ADMIN_OPTIONS, AUTHENTICATOR } from './tokens.ts';
import { LongAnswers } from './why/long-answers.ts';
import { WhyFacts } from './why/why-facts.ts';
import { Why } from './why/why.ts';

const CONTROLLERS: readonly Type[] = [
  AuditController,
  BulkController,
  ChangesController,
  EventsController,
  HoldsController,
  JobsController,
  LimitsController,
  NamespacesController,
  QueuesController,
  ReloadsController,
  SourcesController,
  StatusController,
  WhyController,
  WorkloadsController,
];

/** Providers of the data that answers are made of. */
const READING: readonly Provider[] = [
  provided(ShownHashes, [REDIS, Catalog], (redis, { keys }) => new ShownHashes(redis, keys.shownHashKey)),
  provided(ReadModel, [REDIS, Catalog, ShownHashes, ADMIN_METRICS, Process], followedHistory),
  provided(Cursors, [ShownHashes], (hashes) => new Cursors(() => hashes.secret)),
  provided(ReloadJobs, [REDIS, Catalog], (redis, { keys }) => new ReloadJobs(redis, keys.prefix)),
  provided(ObjectFacts, [REDIS, Catalog], (redis, catalog) => new ObjectFacts(redis, catalog)),
  provided(
    LiveStates,
    [REDIS, Catalog, ReloadJobs],
    (redis, catalog, jobs) =>
      new LiveStates({ catalog, rollouts: new Rollouts(redis, catalog.keys.rollouts), jobs }),
  ),
  provided(Consumers, [CallersCluster, ADMIN_OPTIONS], (cluster, options) => new Consumers(cluster, options)),
  provided(
    NamespaceHoldsReader,
    [KubeClient, ADMIN_OPTIONS],
    (client, { podNamespace }) => new NamespaceHoldsReader(client, podNamespace),
  ),
  provided(LongAnswers, [ADMIN_OPTIONS], ({ apiRequestTimeout }) => new LongAnswers(apiRequestTimeout)),
  provided(
    Why,
    [REDIS, Catalog, Queues, NamespaceHoldsReader, WavePlans],
    (redis, catalog, queues, namespaces, waves) =>
      new Why({ facts: new WhyFacts({ redis, catalog, queues }), namespaces, waves }),
  ),
  provided(
    WavePlans,
    [REDIS, Catalog, NamespaceHoldsReader, ShownHashes],
    (redis, catalog, namespaces, hashes) => {
      const reader = new WaveReader(catalog, new Rollouts(redis, catalog.keys.rollouts));
      return new WavePlans(reader, namespaces, hashes);
    },
  ),
];

const STEERING: readonly Provider[] = [
  provided(JobBoard, [REDIS, Catalog, Lifecycle], (connection, { keys }, lifecycle) => {
    const board = new JobBoard({ connection, prefix: keys.prefix });
    endIfUnusable(lifecycle, board.all);
    lifecycle.onStop('views of the queues', 2_000, () => board.close());
    return board;
  }),
  provided(
    Idempotency,
    [REDIS, Catalog, LOG],
    (redis, { keys }, log) => new Idempotency(redis, keys, { log }),
  ),
  provided(AuditLog, [History, LOG], (history, log) => new AuditLog({ history, log })),
  provided(
    CallersCluster,
    [KubeClient, ADMIN_OPTIONS],
    (client, options) => new CallersCluster(client, options),
  ),
  Writes,
  HoldWrites,
  ReloadWrites,
  JobRetries,
  provided(
    RequestedHolds,
    [Catalog, ObjectFacts, NamespaceHoldsReader, LOG],
    (catalog, facts, namespaces, log) => new RequestedHolds({ catalog, facts, namespaces, log }),
  ),
  provided(
    BulkTargets,
    [ObjectFacts, ReadModel, JobBoard, ReloadJobs],
    (facts, model, board, jobs) => new BulkTargets({ facts, model, board, jobs }),
  ),
  BulkWrites,
];

const HTTP: readonly Provider[] = [
  provided(AUTHENTICATOR, [ADMIN_OPTIONS, LOG, ADMIN_METRICS, KubeClient], (options, log, metrics, client) =>
    authenticatorOf({ options, log, metrics, client }),
  ),
  provided(
    ActorLimit,
    [ADMIN_OPTIONS, ADMIN_METRICS],
    (options, metrics) => new ActorLimit({ options, metrics }),
  ),
  { provide: APP_GUARD, useClass: CallerGuard },
  { provide: APP_INTERCEPTOR, useClass: DeadlineInterceptor },
  ProblemFilter,
  { provide: APP_FILTER, useExisting: ProblemFilter },
];

/** The modules of an admin. `serveApi` starts them. */
@Module({})
export class AdminModule {
  static of(options: AdminOptions, { log, registry }: Process): DynamicModule {
    log.info('Starting Reroll admin', { auth: options.auth, anonymous: options.anonymous });
    return {
      module: AdminModule,
      imports: [HealthModule, KubeModule, RedisModule, CatalogModule, QueueModule],
      controllers: [...CONTROLLERS],
      providers: [
        { provide: ADMIN_OPTIONS, useValue: options },
        { provide: ADMIN_METRICS, useValue: adminMetrics(registry) },
        ApiState,
        Servers,
        ...READING,
        ...STEERING,
        ...HTTP,
      ],
    };
  }
}

/** Resolves when the history is in memory. From then on it is followed until shutdown. */
async function followedHistory(
  redis: RedisClient,
  { keys }: Catalog,
  hashes: ShownHashes,
  metrics: AdminMetrics,
  { log, lifecycle }: Process,
): Promise<ReadModel> {
  const { signal } = lifecycle;
  const waiting = openForWaiting(redis);
  // What it reads over the other connection ends with that one: while Redis is away, it would wait until the deadline.
  lifecycle.onStop('history', 1_000, () => waiting.disconnect());
  const reader = new HistoryReader({ redis, waiting, keys });
  const model = new ReadModel({ reader, hashes, metrics, log, signal });
  await model.begin();
  signal.throwIfAborted();
  void model.follow();
  return model;
}
