import { OPERATIONS, type Operation, type OperationId } from '@reroll/shared/api/operations';
import type { Asked } from './admin-api.ts';

/** What a call of each operation is about: a Deployment, the Secret `keys`, a change and a failed job of a namespace. */
export interface Subject {
  readonly namespace: string;
  /** Name of a Deployment. Default `web`. */
  readonly workload?: string;
  /** Id of a change. */
  readonly change: string;
  /** Id of a job that has failed. */
  readonly job: string;
}

/** What no namespace has, and never had. */
export const NOWHERE: Subject = { namespace: 'nowhere', change: '1000000000000-0', job: 'reloads:999999' };

export const OPERATION_IDS = Object.keys(OPERATIONS) as OperationId[];

export type Calls = { readonly [Id in OperationId]: Asked<Id> };

/** A call of each operation that is answered with its status, for whoever may. An operation without one does not compile. */
export function callsAbout({ namespace, change, job, workload: name = 'web' }: Subject): Calls {
  const workload = { kind: 'Deployment', namespace, name } as const;
  const source = { kind: 'Secret', namespace, name: 'keys' } as const;
  const body = { reason: 'a call of the specs' };
  const selector = { namespace, kind: 'Deployment', name } as const;
  const within = { query: { namespace } };
  return {
    listChanges: within,
    getChange: { params: { id: change } },
    streamEvents: within,
    listWorkloads: within,
    getWorkload: { params: workload },
    listSources: within,
    getSource: { params: source },
    listNamespaces: { query: { name: namespace } },
    getConsumers: { params: source },
    getWaves: { params: source },
    explain: { query: { workload: `Deployment/${namespace}/${name}`, source: `Secret/${namespace}/keys` } },
    preview: { body: { of: 'source', source } },
    listQueues: {},
    pauseQueue: { params: { name: 'notifications' }, body },
    resumeQueue: { params: { name: 'notifications' }, body },
    listJobs: {},
    getJob: { params: { id: job } },
    retryJob: { params: { id: job }, body },
    reloadWorkload: { params: workload, body },
    freezeWorkload: { params: workload, body },
    unfreezeWorkload: { params: workload, body },
    approveWorkload: { params: workload, body: { ...body, id: '0123456789' } },
    freezeNamespace: { params: { namespace }, body },
    unfreezeNamespace: { params: { namespace }, body },
    freezeAll: { body },
    unfreezeAll: { body },
    resumeChange: { params: source, body },
    bulkReload: { body: { ...body, selector } },
    bulkFreeze: { body: { ...body, selector } },
    bulkUnfreeze: { body: { ...body, selector } },
    bulkApprove: { body: { ...body, selector, dryRun: true } },
    bulkRetry: { body: { ...body, selector } },
    getLimits: {},
    setLimits: { body: { ...body, concurrency: null, reloadsPerMinute: null } },
    listAudit: {},
    getStatus: {},
  };
}

/** Those that write to one object of the cluster with the token of the caller, and so are for tokens that the API server takes. */
export const WITH_OWN_TOKEN = [
  'freezeWorkload',
  'unfreezeWorkload',
  'approveWorkload',
  'freezeNamespace',
  'unfreezeNamespace',
  'resumeChange',
] as const satisfies readonly OperationId[];

/** The same for everything. */
export const ALL_WITH_OWN_TOKEN = ['freezeAll', 'unfreezeAll'] as const satisfies readonly OperationId[];

/** Those about one thing of one namespace: what somebody may not see is not there for them. */
export const ADDRESSED = [
  'getChange',
  'getWorkload',
  'getSource',
  'getConsumers',
  'getWaves',
  'explain',
  'preview',
  'getJob',
  'retryJob',
  'reloadWorkload',
  ...WITH_OWN_TOKEN,
] as const satisfies readonly OperationId[];

/** Those that show what the caller may see of everything. */
export const FILTERED = [
  'listChanges',
  'streamEvents',
  'listWorkloads',
  'listSources',
  'listNamespaces',
  'listQueues',
  'listJobs',
  'getLimits',
  'listAudit',
  'getStatus',
] as const satisfies readonly OperationId[];

/** Those that write to all that a selector matches, of what the caller may see. */
export const BULK = [
  'bulkReload',
  'bulkFreeze',
  'bulkUnfreeze',
  'bulkApprove',
  'bulkRetry',
] as const satisfies readonly OperationId[];

/** Those that concern everybody. */
export const STEERING = ['pauseQueue', 'resumeQueue', 'setLimits'] as const satisfies readonly OperationId[];

export function operationOf(id: OperationId): Operation {
  return OPERATIONS[id];
}

/** Whether an operation takes a JSON body. */
export function takesBody(id: OperationId): boolean {
  return operationOf(id).body !== undefined;
}
