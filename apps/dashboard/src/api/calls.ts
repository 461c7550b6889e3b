import type { OPERATIONS, OperationId } from '@reroll/shared/api/operations';

type Table = typeof OPERATIONS;

export type Answer<Id extends OperationId> = Table[Id] extends { readonly answer: infer Schema }
  ? Schema extends { parse(given: unknown): infer Output }
    ? Output
    : never
  : never;

/** Method and path of every operation that is used here. The types hold it to the API's own table; zod stays out of the bundle. */
export const CALLS = {
  listChanges: { method: 'get', path: '/changes' },
  getChange: { method: 'get', path: '/changes/{id}' },
  streamEvents: { method: 'get', path: '/events' },
  listWorkloads: { method: 'get', path: '/workloads' },
  getWorkload: { method: 'get', path: '/workloads/{kind}/{namespace}/{name}' },
  listSources: { method: 'get', path: '/sources' },
  getSource: { method: 'get', path: '/sources/{kind}/{namespace}/{name}' },
  listNamespaces: { method: 'get', path: '/namespaces' },
  getConsumers: { method: 'get', path: '/sources/{kind}/{namespace}/{name}/consumers' },
  getWaves: { method: 'get', path: '/sources/{kind}/{namespace}/{name}/waves' },
  explain: { method: 'get', path: '/explain' },
  preview: { method: 'post', path: '/preview' },
  listQueues: { method: 'get', path: '/queues' },
  pauseQueue: { method: 'post', path: '/queues/{name}/pause' },
  resumeQueue: { method: 'post', path: '/queues/{name}/resume' },
  listJobs: { method: 'get', path: '/jobs' },
  getJob: { method: 'get', path: '/jobs/{id}' },
  retryJob: { method: 'post', path: '/jobs/{id}/retry' },
  reloadWorkload: { method: 'post', path: '/workloads/{kind}/{namespace}/{name}/reload' },
  freezeWorkload: { method: 'post', path: '/workloads/{kind}/{namespace}/{name}/freeze' },
  unfreezeWorkload: { method: 'post', path: '/workloads/{kind}/{namespace}/{name}/unfreeze' },
  approveWorkload: { method: 'post', path: '/workloads/{kind}/{namespace}/{name}/approve' },
  freezeNamespace: { method: 'post', path: '/namespaces/{namespace}/freeze' },
  unfreezeNamespace: { method: 'post', path: '/namespaces/{namespace}/unfreeze' },
  freezeAll: { method: 'post', path: '/freeze' },
  unfreezeAll: { method: 'post', path: '/unfreeze' },
  resumeChange: { method: 'post', path: '/sources/{kind}/{namespace}/{name}/resume' },
  bulkReload: { method: 'post', path: '/bulk/reload' },
  bulkFreeze: { method: 'post', path: '/bulk/freeze' },
  bulkUnfreeze: { method: 'post', path: '/bulk/unfreeze' },
  bulkApprove: { method: 'post', path: '/bulk/approve' },
  bulkRetry: { method: 'post', path: '/bulk/retry' },
  getLimits: { method: 'get', path: '/limits' },
  setLimits: { method: 'put', path: '/limits' },
  listAudit: { method: 'get', path: '/audit' },
  getStatus: { method: 'get', path: '/status' },
} as const satisfies { readonly [Id in OperationId]?: Pick<Table[Id], 'method' | 'path'> };

export type CallId = keyof typeof CALLS;
