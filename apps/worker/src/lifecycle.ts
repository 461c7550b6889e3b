import { once } from 'node:events';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { History } from '@reroll/redis/history/history';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { RateBudget } from '@reroll/redis/processes/rate';
import { openForWaiting, type RedisClient } from '@reroll/redis/connection/redis';
import { kindOf } from '@reroll/core/model';
import type { HashKeys } from '@reroll/core/record/record-hash';
import type { KubeClient } from '@reroll/kube/client/connection';
import { EventRecorder } from '@reroll/kube/kube-events';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { resourceType } from '@reroll/shared/platform/metrics/shared';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import { decisionSettings } from '@reroll/shared/platform/options/decision-settings';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { adoptStaleOf, triggersOf } from '@reroll/shared/platform/options/triggers';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import {
  changeJob,
  reloadJob,
  resumeJob,
  type ChangeJob,
  type ReloadJob,
  type ResumeJob,
} from '@reroll/redis/queue/jobs';
import { CHANGES, RELOADS, RESUMES, type Queues } from '@reroll/redis/queue/queues';
import type { Worker } from 'bullmq';
import type { WorkerHeartbeat } from './heartbeat.service.ts';
import { ChangeReports } from './change/change-reports.ts';
import { ChangeProcessor } from './change/change.processor.ts';
import { notifying, type Notifying } from './notify/notifying.ts';
import { OutcomeRecorder } from './outcome-recorder.ts';
import { Activity, runQueue, type QueueHandler } from './queue-runner.ts';
import { ReloadProcessor, type ReloadSettings } from './reload/reload.processor.ts';
import { ReloadReports } from './reload/reload-reports.ts';
import { reloadWays, type ReloadWays } from './reload/send/reload-ways.ts';
import { ResumeProcessor } from './reload/resume.processor.ts';
import { SourceReader } from './change/source-reader.ts';
import { WorkloadReader } from './reload/workload-reader.ts';
import type { JobResults } from './job-ends.service.ts';

export interface WorkerContext {
  readonly options: WorkerOptions;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly client: KubeClient;
  readonly redis: RedisClient;
  readonly catalog: Catalog;
  readonly hashKeys: HashKeys;
  readonly metrics: WorkerMetrics;
}

/** How often the history is trimmed by age. */
const HOUSEKEEPING = 15_000;

/**
 * Takes jobs from both queues until the end. The end runs backwards: no more jobs are taken and those at
 * work are finished, then what they left to be told is told, then the connections go.
 */
export function runWorker(context: WorkerContext, into: JobResults, heartbeat: WorkerHeartbeat): void {
  const { options, lifecycle, redis, catalog, metrics, log } = context;
  const { prefix } = catalog.keys;
  const { queues, history, room } = into;
  const outcomes = new OutcomeRecorder({ history, room, metrics, log });
  lifecycle.onStop('history', 3_000, () => outcomes.flush());
  housekeeping(context, history);
  const activity = new Activity();
  const notices = notifying(context);
  const budget = new RateBudget(redis, catalog.keys.budget, options.maxReloadsPerMinute);
  const handlers = handlersOf(context, { queues, history, outcomes, activity, notices, budget });
  const waiting = openForWaiting(redis);
  lifecycle.onStop('redis of the queues', 500, () => waiting.disconnect());
  const settings = {
    connection: waiting,
    prefix,
    concurrency: options.concurrency,
    lockDuration: options.stalledLock,
    metrics,
    log,
    activity,
    onError: (error: unknown) => room.failed(error),
  };
  const takers = [
    runQueue(handlers.changes, settings),
    runQueue(handlers.reloads, settings),
    // Its own activity: Kubernetes Events need not wait for a receiver that is slow.
    ...(notices.handler ? [runQueue(notices.handler, { ...settings, activity: new Activity() })] : []),
    runQueue(resumesHandler(context), settings),
  ];
  for (const worker of takers) stopLast(lifecycle, options.shutdownTimeout, { worker, redis: waiting });
  heartbeat.start(takers, budget);
}

/**
 * A worker is asked to finish what it has. What takes too long is left to be taken over, and so is everything while
 * Redis is away: nobody could be told that it is done.
 */
function stopLast(lifecycle: Lifecycle, timeout: number, { worker, redis }: Taking): void {
  lifecycle.onStop(`queue ${worker.name}`, Math.max(1_000, timeout - 8_000), async (signal) => {
    const lost = redis.status === 'ready' ? once(redis, 'close', { signal }) : Promise.resolve();
    await Promise.race([worker.close(), lost.catch(() => undefined)]);
  });
}

/** What takes jobs of a queue, and the connection that it does so by. */
interface Taking {
  readonly worker: Worker;
  readonly redis: RedisClient;
}

function handlersOf(
  context: WorkerContext,
  by: {
    queues: Queues;
    history: History;
    outcomes: OutcomeRecorder;
    activity: Activity;
    notices: Notifying;
    budget: RateBudget;
  },
): { changes: QueueHandler<ChangeJob>; reloads: QueueHandler<ReloadJob> } {
  const { options, client, redis, catalog, metrics, log } = context;
  const { queues, history, outcomes, activity, notices, budget } = by;
  const { alerts, webhook } = notices;
  const decision = decisionSettings(options);
  const sources = sourceReader(context);
  const workloads = new WorkloadReader(client, catalog, decision);
  const events = eventsOf(context, activity);
  const changeReports = new ChangeReports({ outcomes, metrics, log });
  const change = new ChangeProcessor(
    { catalog, sources, history, queue: queues, reports: changeReports, webhook },
    decision,
  );
  const requests = new ReloadRequests(redis, catalog.keys.requests);
  const reports = new ReloadReports({ catalog, events, outcomes, alerts, metrics, log });
  const ways = waysOf(context);
  const reload = new ReloadProcessor(
    { catalog, requests, workloads, sources, ways, budget, reports },
    settingsOf(options, webhook !== undefined),
  );
  return {
    changes: changesHandler(change, changeReports, context),
    reloads: reloadsHandler(reload, reports, { catalog, requests }),
  };
}

function settingsOf(options: WorkerOptions, notifyOnly: boolean): ReloadSettings {
  return {
    dryRun: options.dryRun,
    adoptStale: adoptStaleOf(options),
    onDelete: triggersOf(options).onDelete,
    decision: decisionSettings(options),
    notifyOnly,
  };
}

function eventsOf({ client, options, metrics, lifecycle }: WorkerContext, activity: Activity): EventRecorder {
  const events = new EventRecorder({
    client,
    instance: options.podName,
    isBusy: () => activity.isBusy,
    onResult: (result) => {
      if (result !== 'posted') metrics.kubeEventsDropped.inc();
    },
  });
  lifecycle.onStop('events', 3_000, () => events.flush(2_500));
  return events;
}

function waysOf({ client, options }: WorkerContext): ReloadWays {
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

function sourceReader({ client, catalog, hashKeys, options }: WorkerContext): SourceReader {
  return new SourceReader(
    { client, catalog },
    {
      hashKeys,
      markerHash: options.hash,
      ignoredSecretTypes: options.secretTypesToIgnore,
      labels: options.resourceLabelSelector,
    },
  );
}

function changesHandler(
  change: ChangeProcessor,
  reports: ChangeReports,
  { metrics, log }: WorkerContext,
): QueueHandler<ChangeJob> {
  const resource = (job: ChangeJob): string => resourceType(kindOf(job.source));
  return {
    queue: CHANGES,
    schema: changeJob,
    handle: async (job, { startedAt }) => {
      reports.ended(job, await change.handle(job));
      metrics.eventsProcessed.inc({ event_type: 'unknown', resource_type: resource(job), result: 'success' });
      metrics.reconcile.inc({ result: 'success' });
      metrics.reconcileDuration.observe({ result: 'success' }, (Date.now() - startedAt) / 1000);
    },
    failed: async (job, error, { number, isLast }) => {
      metrics.reconcile.inc({ result: 'error' });
      if (isLast)
        metrics.eventsProcessed.inc({
          event_type: 'unknown',
          resource_type: resource(job),
          result: 'dropped',
        });
      const about = { source: job.source, attempt: number, final: isLast };
      log.error(`Error syncing events: ${error.message}`, about);
      if (isLast) log.error(`Dropping key out of the queue: ${error.message}`, about);
    },
  };
}

function reloadsHandler(
  reload: ReloadProcessor,
  reports: ReloadReports,
  { catalog, requests }: { catalog: Catalog; requests: ReloadRequests },
): QueueHandler<ReloadJob> {
  return {
    queue: RELOADS,
    schema: reloadJob,
    handle: async (job, { number, most }) => {
      const outcome = await reload.handle(job);
      reports.ended(job, outcome, { attempt: number, attempts: most });
      if (outcome.request) await requests.done(job.workload, outcome.request.id);
      if (number > 1) await catalog.setBackingOff(job.workload, null);
    },
    failed: async (job, error, { number, most, isLast, jobId, next }) => {
      reports.failed(job, error, { attempt: number, attempts: most, isLast, next });
      await catalog.setBackingOff(job.workload, isLast ? null : jobId);
      // A person is told; what the API server's absence kept from being done, the resync enqueues again.
      if (isLast && error.request && error.reason !== 'ApiUnavailable')
        await requests.done(job.workload, error.request.id);
    },
  };
}

function resumesHandler({ client, options, log }: WorkerContext): QueueHandler<ResumeJob> {
  const { fieldManager, dryRun } = options;
  const { keys } = decisionSettings(options);
  const resume = new ResumeProcessor({ client, keys, fieldManager, dryRun, log });
  return {
    queue: RESUMES,
    schema: resumeJob,
    handle: (job) => resume.handle(job),
    failed: async ({ workload }, error, { number, isLast }) => {
      log.failure('a Deployment could not be resumed', error, { workload, attempt: number, final: isLast });
    },
  };
}

function housekeeping({ lifecycle, log }: WorkerContext, history: History): void {
  const keep = async (): Promise<void> => {
    await history.trim(Date.now());
  };
  const timer = setInterval(() => {
    keep().catch((error: unknown) => log.failure('housekeeping in Redis failed', error));
  }, HOUSEKEEPING);
  lifecycle.onStop('housekeeping', 500, () => clearInterval(timer));
}
