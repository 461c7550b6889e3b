import type { z } from 'zod';
import { accepted, auditPage, auditQuery } from './audit.ts';
import { bulkApprove, bulkFreeze, bulkReload, bulkResult, bulkRetry, bulkUnfreeze } from './bulk.ts';
import { change, changeParams, changesPage, changesQuery } from './changes.ts';
import { consumers } from './consumers.ts';
import { eventsQuery } from './events.ts';
import { explainQuery, explanation, preview, previewRequest, reloadAccepted } from './explain.ts';
import { approveRequest, freezeRequest, namespaceParams, reloadRequest, resumeRequest } from './holds.ts';
import type { ProblemCode } from './problem.ts';
import {
  because,
  job,
  jobParams,
  jobsPage,
  jobsQuery,
  limits,
  limitsRequest,
  queue,
  queueParams,
  queues,
} from './queues.ts';
import { status } from './status.ts';
import { waves } from './waves.ts';
import {
  namespacesPage,
  namespacesQuery,
  source,
  sourceParams,
  sourcesPage,
  sourcesQuery,
  workload,
  workloadParams,
  workloadsPage,
  workloadsQuery,
} from './workloads.ts';

/** One operation of the API. Paths are below `/api/v1`, with OpenAPI's braces. */
export interface Operation {
  readonly method: 'get' | 'post' | 'put';
  readonly path: string;
  readonly tag: 'History' | 'Objects' | 'Why' | 'Jobs' | 'Steering' | 'Health';
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The schema of the response with `status`; undefined for a stream of server-sent events. */
  readonly answer?: z.ZodType;
  readonly status: 200 | 202;
  /** The problems besides `COMMON_PROBLEMS`. */
  readonly problems: readonly ProblemCode[];
}

/** The problems that any operation may return. */
export const COMMON_PROBLEMS = [
  'InvalidRequest',
  'Unauthenticated',
  'Forbidden',
  'TooManyRequests',
  'Internal',
  'Unavailable',
] as const satisfies readonly ProblemCode[];

const WRITE = ['TooLarge', 'UnsupportedMediaType', 'IdempotencyMismatch', 'Conflict'] as const;

function bulk<const Path extends string, Body extends z.ZodType>(path: Path, summary: string, body: Body) {
  return {
    method: 'post',
    path,
    tag: 'Steering',
    summary,
    body,
    answer: bulkResult,
    status: 200,
    problems: ['TooLarge', 'UnsupportedMediaType', 'Conflict'],
  } as const;
}

/** The whole API. The router, the OpenAPI document, the command line and the contract tests derive from it. */
export const OPERATIONS = {
  listChanges: {
    method: 'get',
    path: '/changes',
    tag: 'History',
    summary: 'Lists changes of sources, and manual reloads, newest first.',
    query: changesQuery,
    answer: changesPage,
    status: 200,
    problems: [],
  },
  getChange: {
    method: 'get',
    path: '/changes/{id}',
    tag: 'History',
    summary: 'Returns one change, with its outcome for every workload.',
    params: changeParams,
    answer: change,
    status: 200,
    problems: ['NotFound'],
  },
  streamEvents: {
    method: 'get',
    path: '/events',
    tag: 'History',
    summary: 'Streams changes and outcomes as server-sent events. Resumes after `Last-Event-ID`.',
    query: eventsQuery,
    status: 200,
    problems: [],
  },
  listWorkloads: {
    method: 'get',
    path: '/workloads',
    tag: 'Objects',
    summary: 'Lists the workloads that Reroll knows.',
    query: workloadsQuery,
    answer: workloadsPage,
    status: 200,
    problems: [],
  },
  getWorkload: {
    method: 'get',
    path: '/workloads/{kind}/{namespace}/{name}',
    tag: 'Objects',
    summary: 'Returns one workload: its sources, what is pending, its history and its rollout.',
    params: workloadParams,
    answer: workload,
    status: 200,
    problems: ['NotFound'],
  },
  listSources: {
    method: 'get',
    path: '/sources',
    tag: 'Objects',
    summary: 'Lists the ConfigMaps, Secrets and SecretProviderClasses that Reroll knows.',
    query: sourcesQuery,
    answer: sourcesPage,
    status: 200,
    problems: [],
  },
  getSource: {
    method: 'get',
    path: '/sources/{kind}/{namespace}/{name}',
    tag: 'Objects',
    summary: 'Returns one source: the workloads that depend on it, and its history.',
    params: sourceParams,
    answer: source,
    status: 200,
    problems: ['NotFound'],
  },
  getConsumers: {
    method: 'get',
    path: '/sources/{kind}/{namespace}/{name}/consumers',
    tag: 'Objects',
    summary:
      "Shows which containers have older data of the source. Reads the cluster with the caller's token and rights.",
    params: sourceParams,
    answer: consumers,
    status: 200,
    problems: ['NotFound'],
  },
  getWaves: {
    method: 'get',
    path: '/sources/{kind}/{namespace}/{name}/waves',
    tag: 'Objects',
    summary: 'Shows how far the current data of the source has come in its waves.',
    params: sourceParams,
    answer: waves,
    status: 200,
    problems: ['NotFound'],
  },
  listNamespaces: {
    method: 'get',
    path: '/namespaces',
    tag: 'Objects',
    summary: 'Lists the namespaces that have workloads or sources.',
    query: namespacesQuery,
    answer: namespacesPage,
    status: 200,
    problems: [],
  },
  explain: {
    method: 'get',
    path: '/explain',
    tag: 'Why',
    summary: 'Explains why a workload reloads, or does not, when a source changes.',
    query: explainQuery,
    answer: explanation,
    status: 200,
    problems: ['NotFound'],
  },
  preview: {
    method: 'post',
    path: '/preview',
    tag: 'Why',
    summary: 'Previews what would reload. Changes nothing.',
    body: previewRequest,
    answer: preview,
    status: 200,
    problems: ['NotFound', 'TooLarge', 'UnsupportedMediaType'],
  },
  listQueues: {
    method: 'get',
    path: '/queues',
    tag: 'Jobs',
    summary: 'Lists the queues, and how many jobs are in each state.',
    answer: queues,
    status: 200,
    problems: [],
  },
  pauseQueue: {
    method: 'post',
    path: '/queues/{name}/pause',
    tag: 'Steering',
    summary: 'Pauses a queue: workers take none of its jobs until it is resumed. Nothing is lost.',
    params: queueParams,
    body: because,
    answer: queue,
    status: 200,
    problems: WRITE,
  },
  resumeQueue: {
    method: 'post',
    path: '/queues/{name}/resume',
    tag: 'Steering',
    summary: 'Resumes a queue.',
    params: queueParams,
    body: because,
    answer: queue,
    status: 200,
    problems: WRITE,
  },
  listJobs: {
    method: 'get',
    path: '/jobs',
    tag: 'Jobs',
    summary: 'Lists the jobs that wait, run or have failed.',
    query: jobsQuery,
    answer: jobsPage,
    status: 200,
    problems: [],
  },
  getJob: {
    method: 'get',
    path: '/jobs/{id}',
    tag: 'Jobs',
    summary: 'Returns one job.',
    params: jobParams,
    answer: job,
    status: 200,
    problems: ['NotFound'],
  },
  retryJob: {
    method: 'post',
    path: '/jobs/{id}/retry',
    tag: 'Steering',
    summary: 'Tries a failed or delayed job again at once.',
    params: jobParams,
    body: because,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  reloadWorkload: {
    method: 'post',
    path: '/workloads/{kind}/{namespace}/{name}/reload',
    tag: 'Steering',
    summary: 'Reloads a workload now, if its annotations opt in. Returns the id of the change.',
    params: workloadParams,
    body: reloadRequest,
    answer: reloadAccepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  freezeWorkload: {
    method: 'post',
    path: '/workloads/{kind}/{namespace}/{name}/freeze',
    tag: 'Steering',
    summary: "Holds all reloads of a workload, with an annotation written with the caller's token.",
    params: workloadParams,
    body: freezeRequest,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  unfreezeWorkload: {
    method: 'post',
    path: '/workloads/{kind}/{namespace}/{name}/unfreeze',
    tag: 'Steering',
    summary: "Ends the freeze of a workload, with the caller's token.",
    params: workloadParams,
    body: because,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  approveWorkload: {
    method: 'post',
    path: '/workloads/{kind}/{namespace}/{name}/approve',
    tag: 'Steering',
    summary: "Approves exactly what is pending, with the caller's token.",
    params: workloadParams,
    body: approveRequest,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  freezeNamespace: {
    method: 'post',
    path: '/namespaces/{namespace}/freeze',
    tag: 'Steering',
    summary: "Holds all reloads of a namespace, with an annotation written with the caller's token.",
    params: namespaceParams,
    body: freezeRequest,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  unfreezeNamespace: {
    method: 'post',
    path: '/namespaces/{namespace}/unfreeze',
    tag: 'Steering',
    summary: "Ends the freeze of a namespace, with the caller's token.",
    params: namespaceParams,
    body: because,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  freezeAll: {
    method: 'post',
    path: '/freeze',
    tag: 'Steering',
    summary:
      "Holds all reloads of the installation, with an annotation of its Namespace written with the caller's token.",
    body: freezeRequest,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  unfreezeAll: {
    method: 'post',
    path: '/unfreeze',
    tag: 'Steering',
    summary: "Ends the freeze of the installation, with the caller's token.",
    body: because,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  resumeChange: {
    method: 'post',
    path: '/sources/{kind}/{namespace}/{name}/resume',
    tag: 'Steering',
    summary:
      "Resumes the waves of the current data after a failed rollout, with an annotation written with the caller's token.",
    params: sourceParams,
    body: resumeRequest,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  bulkReload: bulk('/bulk/reload', 'Reloads the workloads that a selector matches.', bulkReload),
  bulkFreeze: bulk('/bulk/freeze', 'Freezes the workloads that a selector matches.', bulkFreeze),
  bulkUnfreeze: bulk('/bulk/unfreeze', 'Unfreezes the workloads that a selector matches.', bulkUnfreeze),
  bulkApprove: bulk(
    '/bulk/approve',
    'Approves what is pending in the workloads that a selector matches, as a dry run showed it.',
    bulkApprove,
  ),
  bulkRetry: bulk('/bulk/retry', 'Retries the failed jobs that a selector matches.', bulkRetry),
  getLimits: {
    method: 'get',
    path: '/limits',
    tag: 'Steering',
    summary: "Returns the runtime limits. Null: the worker's flag applies.",
    answer: limits,
    status: 200,
    problems: [],
  },
  setLimits: {
    method: 'put',
    path: '/limits',
    tag: 'Steering',
    summary: 'Sets the runtime limits of all workers.',
    body: limitsRequest,
    answer: limits,
    status: 200,
    problems: WRITE,
  },
  listAudit: {
    method: 'get',
    path: '/audit',
    tag: 'Steering',
    summary: 'Lists who did what through this API, and why, newest first.',
    query: auditQuery,
    answer: auditPage,
    status: 200,
    problems: [],
  },
  getStatus: {
    method: 'get',
    path: '/status',
    tag: 'Health',
    summary:
      'Shows the leader, standbys, workers, lag and pending workloads, and whether Redis and the API server respond.',
    answer: status,
    status: 200,
    problems: [],
  },
} as const satisfies Readonly<Record<string, Operation>>;
export type OperationId = keyof typeof OPERATIONS;
