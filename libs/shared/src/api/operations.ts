import { z } from 'zod';
import { accepted, auditPage, auditQuery } from './audit.ts';
import { change, changesPage, changesQuery } from './changes.ts';
import { consumers } from './consumers.ts';
import { eventsQuery } from './events.ts';
import { explainQuery, explanation, preview, previewRequest } from './explain.ts';
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

function operations<const Table extends Readonly<Record<string, Operation>>>(table: Table): Table {
  return table;
}

/** The whole API. The router, the OpenAPI document, the command line and the contract tests derive from it. */
export const OPERATIONS = operations({
  listChanges: {
    method: 'get',
    path: '/changes',
    tag: 'History',
    summary: 'Changes of sources, and reloads that people asked for, newest first.',
    query: changesQuery,
    answer: changesPage,
    status: 200,
    problems: [],
  },
  getChange: {
    method: 'get',
    path: '/changes/{id}',
    tag: 'History',
    summary: 'One change, with what became of every workload.',
    params: z.strictObject({ id: z.string().regex(/^\d{1,15}-\d{1,10}$/, 'expected the id of a change') }),
    answer: change,
    status: 200,
    problems: ['NotFound'],
  },
  streamEvents: {
    method: 'get',
    path: '/events',
    tag: 'History',
    summary: 'Changes and outcomes as they happen (server-sent events); resumes after `Last-Event-ID`.',
    query: eventsQuery,
    status: 200,
    problems: [],
  },
  listWorkloads: {
    method: 'get',
    path: '/workloads',
    tag: 'Objects',
    summary: 'Workloads that Reroll knows.',
    query: workloadsQuery,
    answer: workloadsPage,
    status: 200,
    problems: [],
  },
  getWorkload: {
    method: 'get',
    path: '/workloads/{kind}/{namespace}/{name}',
    tag: 'Objects',
    summary: 'One workload: what it refers to, what decides, what it is owed, its history and its rollout.',
    params: workloadParams,
    answer: workload,
    status: 200,
    problems: ['NotFound'],
  },
  listSources: {
    method: 'get',
    path: '/sources',
    tag: 'Objects',
    summary: 'ConfigMaps, Secrets and SecretProviderClasses that Reroll knows.',
    query: sourcesQuery,
    answer: sourcesPage,
    status: 200,
    problems: [],
  },
  getSource: {
    method: 'get',
    path: '/sources/{kind}/{namespace}/{name}',
    tag: 'Objects',
    summary: 'One source: who depends on it, and its history.',
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
      'Which containers have older data of the source. Asks the API server with the token and the rights of the caller.',
    params: sourceParams,
    answer: consumers,
    status: 200,
    problems: ['NotFound'],
  },
  getWaves: {
    method: 'get',
    path: '/sources/{kind}/{namespace}/{name}/waves',
    tag: 'Objects',
    summary: 'How far the present data of the source has come, if its changes come in waves.',
    params: sourceParams,
    answer: waves,
    status: 200,
    problems: ['NotFound'],
  },
  explain: {
    method: 'get',
    path: '/explain',
    tag: 'Why',
    summary: 'Why a workload does, or does not, reload when a source changes.',
    query: explainQuery,
    answer: explanation,
    status: 200,
    problems: ['NotFound'],
  },
  preview: {
    method: 'post',
    path: '/preview',
    tag: 'Why',
    summary: 'What would roll; nothing is sent.',
    body: previewRequest,
    answer: preview,
    status: 200,
    problems: ['NotFound', 'TooLarge', 'UnsupportedMediaType'],
  },
  listQueues: {
    method: 'get',
    path: '/queues',
    tag: 'Jobs',
    summary: 'The queues, and how many jobs wait in them.',
    answer: queues,
    status: 200,
    problems: [],
  },
  pauseQueue: {
    method: 'post',
    path: '/queues/{name}/pause',
    tag: 'Steering',
    summary: 'No worker takes a job of the queue until it is resumed. Nothing is lost.',
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
    summary: 'Workers take jobs of the queue again.',
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
    summary: 'Jobs that wait, run or have failed.',
    query: jobsQuery,
    answer: jobsPage,
    status: 200,
    problems: [],
  },
  getJob: {
    method: 'get',
    path: '/jobs/{id}',
    tag: 'Jobs',
    summary: 'One job.',
    params: jobParams,
    answer: job,
    status: 200,
    problems: ['NotFound'],
  },
  retryJob: {
    method: 'post',
    path: '/jobs/{id}/retry',
    tag: 'Steering',
    summary: 'Tries a failed job again, and a waiting one at once.',
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
    summary:
      'Reloads a workload now, if its annotations opt in. Answers with the id of the change that this is.',
    params: workloadParams,
    body: reloadRequest,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  freezeWorkload: {
    method: 'post',
    path: '/workloads/{kind}/{namespace}/{name}/freeze',
    tag: 'Steering',
    summary:
      'Holds every reload of a workload, by an annotation that is written with the token of the caller.',
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
    summary: 'Ends the freeze of a workload, with the token of the caller.',
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
    summary: 'Lets through exactly what is pending, with the token of the caller.',
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
    summary:
      'Holds every reload of a namespace, by an annotation that is written with the token of the caller.',
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
    summary: 'Ends the freeze of a namespace, with the token of the caller.',
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
      'Holds every reload of the installation, by an annotation of its Namespace that is written with the token of the caller.',
    body: freezeRequest,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  unfreezeAll: {
    method: 'post',
    path: '/unfreeze',
    tag: 'Steering',
    summary: 'Ends the freeze of the installation, with the token of the caller.',
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
      'Lets the waves of the present data go on after a failed rollout, by an annotation that is written with the token of the caller.',
    params: sourceParams,
    body: resumeRequest,
    answer: accepted,
    status: 202,
    problems: ['NotFound', ...WRITE],
  },
  getLimits: {
    method: 'get',
    path: '/limits',
    tag: 'Steering',
    summary: 'Limits that were set at run time; null: as the flag says.',
    answer: limits,
    status: 200,
    problems: [],
  },
  setLimits: {
    method: 'put',
    path: '/limits',
    tag: 'Steering',
    summary: 'Sets limits at run time, for every worker.',
    body: limitsRequest,
    answer: limits,
    status: 200,
    problems: WRITE,
  },
  listAudit: {
    method: 'get',
    path: '/audit',
    tag: 'Steering',
    summary: 'Who did what through this API, and why, newest first.',
    query: auditQuery,
    answer: auditPage,
    status: 200,
    problems: [],
  },
  getStatus: {
    method: 'get',
    path: '/status',
    tag: 'Health',
    summary: 'Leader, standbys, workers, lag, what is owed, and whether Redis and the API server answer.',
    answer: status,
    status: 200,
    problems: [],
  },
});
export type OperationId = keyof typeof OPERATIONS;
