/**
 * The API. To serve an operation of `libs/shared/src/api/operations.ts`:
 * 1. A controller in `controllers/` (one a resource), and its name in `CONTROLLERS` below.
 * 2. A method with `@Serves('<operation id>')`. It takes `Input<'<id>'>`, has read `params`, `query` and `body` by their
 *    schemas, and resolves with `AnswerOf<'<id>'>`. Method, path and status are the table's.
 * 3. The caller is known and may call it by then. What they may see is yours: `const { all, sees } = await
 *    visibility(caller)`; what they do not see is `throw new ProblemError('NotFound')`, and in no list and no count.
 * 4. Whatever goes wrong is thrown: `ProblemError` with a code of `api/problem.ts`; errors of Redis and of the API server become
 *    503 by themselves, others 500.
 * 5. What it needs is injected by a token of `tokens.ts` (REDIS, CATALOG, HISTORY, QUEUES, LOG, …), or is a provider of yours here.
 * Server-sent events (an operation without `answer`): write to `response` and resolve when `gone` fires.
 */
import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { History } from '@reroll/redis/history/history';
import { RuntimeLimits } from '@reroll/redis/processes/limits';
import type { Processes } from '@reroll/redis/processes/processes';
import type { RedisRoom } from '@reroll/redis/connection/redis-room';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import type { KubeClient } from '@reroll/kube/client/connection';
import type { InstallIdentity } from '@reroll/kube/install-identity';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import type { Queues } from '@reroll/redis/queue/queues';
import type { Authenticator } from './auth/caller.ts';
import { AuditController } from './controllers/audit.controller.ts';
import { ChangesController } from './controllers/changes.controller.ts';
import { EventsController } from './controllers/events.controller.ts';
import { JobsController } from './controllers/jobs.controller.ts';
import { LimitsController } from './controllers/limits.controller.ts';
import { QueuesController } from './controllers/queues.controller.ts';
import { ReloadsController } from './controllers/reloads.controller.ts';
import { SourcesController } from './controllers/sources.controller.ts';
import { StatusController } from './controllers/status.controller.ts';
import { WhyController } from './controllers/why.controller.ts';
import { WorkloadsController } from './controllers/workloads.controller.ts';
import { CallerGuard } from './http/caller.guard.ts';
import { DeadlineInterceptor } from './http/deadline.interceptor.ts';
import { ProblemFilter } from './http/problem.filter.ts';
import { ActorLimit } from './http/rate-limits.ts';
import { JobBoard } from './jobs/job-board.ts';
import { Servers } from './status/servers.ts';
import { AuditLog } from './steering/audit-log.ts';
import { Idempotency } from './steering/idempotency.ts';
import { Writes } from './steering/writes.ts';
import {
  AUTHENTICATOR,
  CATALOG,
  HISTORY,
  IDENTITY,
  KUBE,
  LIFECYCLE,
  LIMITS,
  LOG,
  METRICS,
  OPTIONS,
  PROCESSES,
  QUEUES,
  REDIS,
  ROOM,
  REQUESTS,
  WHY,
} from './tokens.ts';
import { WhyFacts } from './why/why-facts.ts';
import { Why } from './why/why.ts';

const CONTROLLERS: readonly Type[] = [
  AuditController,
  ChangesController,
  EventsController,
  JobsController,
  LimitsController,
  QueuesController,
  ReloadsController,
  SourcesController,
  StatusController,
  WhyController,
  WorkloadsController,
];

/** What the API works on; made when Redis is known to be ours. */
export interface ApiContext {
  readonly options: AdminOptions;
  readonly log: Logger;
  readonly metrics: AdminMetrics;
  readonly lifecycle: Lifecycle;
  readonly client: KubeClient;
  readonly identity: InstallIdentity;
  readonly redis: RedisClient;
  readonly room: RedisRoom;
  readonly catalog: Catalog;
  readonly history: History;
  readonly processes: Processes;
  readonly queues: Queues;
  readonly board: JobBoard;
  readonly authenticator: Authenticator;
  /** Of `beginReading`. */
  readonly reading: readonly Provider[];
}

@Module({})
export class ApiModule {
  static of(context: ApiContext): DynamicModule {
    return {
      module: ApiModule,
      controllers: [...CONTROLLERS],
      providers: [
        ...valuesOf(context),
        ...context.reading,
        ...servicesOf(context),
        { provide: APP_GUARD, useClass: CallerGuard },
        { provide: APP_INTERCEPTOR, useClass: DeadlineInterceptor },
        ProblemFilter,
        { provide: APP_FILTER, useExisting: ProblemFilter },
      ],
    };
  }
}

function valuesOf(context: ApiContext): Provider[] {
  return [
    { provide: OPTIONS, useValue: context.options },
    { provide: LOG, useValue: context.log },
    { provide: METRICS, useValue: context.metrics },
    { provide: LIFECYCLE, useValue: context.lifecycle },
    { provide: KUBE, useValue: context.client },
    { provide: REDIS, useValue: context.redis },
    { provide: ROOM, useValue: context.room },
    { provide: CATALOG, useValue: context.catalog },
    { provide: HISTORY, useValue: context.history },
    { provide: QUEUES, useValue: context.queues },
    { provide: JobBoard, useValue: context.board },
    { provide: IDENTITY, useValue: context.identity },
    { provide: AUTHENTICATOR, useValue: context.authenticator },
    { provide: WHY, useValue: new Why(new WhyFacts(context)) },
  ];
}

function servicesOf(context: ApiContext): Provider[] {
  const { redis, catalog, history, log } = context;
  const { keys } = catalog;
  return [
    Servers,
    Writes,
    { provide: ActorLimit, useFactory: () => new ActorLimit(context) },
    { provide: PROCESSES, useValue: context.processes },
    { provide: REQUESTS, useFactory: () => new ReloadRequests(redis, keys.requests) },
    { provide: LIMITS, useFactory: () => new RuntimeLimits(redis, keys.limits) },
    { provide: Idempotency, useFactory: () => new Idempotency(redis, keys.idempotency) },
    { provide: AuditLog, useFactory: () => new AuditLog({ history, log }) },
  ];
}
