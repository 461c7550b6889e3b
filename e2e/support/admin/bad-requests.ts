import type { OperationId } from '@reroll/shared/api/operations';

/** A request that is not as documented, and the sentence that its caller is told. */
export interface BadRequest {
  readonly id: OperationId;
  /** What is wrong with it. */
  readonly given: string;
  /** Below `/api/v1`, with the query. */
  readonly path: string;
  /** As sent; an operation that takes none is sent none. */
  readonly body?: string;
  /** Place in the request. */
  readonly at: string;
  readonly expected: string;
}

const NO_NUMBER = 'Invalid input: expected number, received NaN';
const NO_TEXT = 'Invalid input: expected string, received undefined';
const LONG = 'x'.repeat(300);
const WEB = '/workloads/Deployment/shop/web';
const WHY = '/explain?workload=Deployment/shop/web&source=Secret/shop/db';

const KINDS = '"Deployment"|"StatefulSet"|"DaemonSet"|"CronJob"|"Job"|"Rollout"|"DeploymentConfig"';
const SOURCES = '"ConfigMap"|"Secret"|"SecretProviderClass"';
const QUEUES = '"changes"|"reloads"|"resumes"|"notifications"';

type Row = readonly [given: string, path: string, at: string, expected: string, body?: string];

function rows(id: OperationId, ...table: readonly Row[]): BadRequest[] {
  return table.map(([given, path, at, expected, body]) => ({
    id,
    given,
    path,
    at,
    expected,
    ...(body === undefined ? {} : { body }),
  }));
}

/** The same for every list. */
function paged(id: OperationId, path: string): BadRequest[] {
  return rows(
    id,
    ['no entry a page', `${path}?limit=0`, 'query.limit', 'Too small: expected number to be >=1'],
    ['too many a page', `${path}?limit=201`, 'query.limit', 'Too big: expected number to be <=200'],
    ['half an entry', `${path}?limit=1.5`, 'query.limit', 'Invalid input: expected int, received number'],
    ['a limit in words', `${path}?limit=all`, 'query.limit', NO_NUMBER],
    ['two limits', `${path}?limit=1&limit=2`, 'query.limit', NO_NUMBER],
    ['a parameter more', `${path}?limits=1`, 'query', 'nothing else than documented'],
  );
}

/** The same for every write that needs a reason alone. */
function because(id: OperationId, path: string): BadRequest[] {
  const object = 'Invalid input: expected object, received';
  return rows(
    id,
    ['no reason', path, 'body.reason', NO_TEXT, '{}'],
    [
      'a blank reason',
      path,
      'body.reason',
      'Too small: expected string to have >=1 characters',
      '{"reason":" "}',
    ],
    [
      'a reason without end',
      path,
      'body.reason',
      'Too big: expected string to have <=200 characters',
      JSON.stringify({ reason: LONG }),
    ],
    ['more than a reason', path, 'body', 'nothing else than documented', '{"reason":"x","more":1}'],
    ['a list', path, 'body', `${object} array`, '[]'],
    ['null', path, 'body', `${object} null`, 'null'],
    ['half a body', path, 'body', 'JSON', '{"reason":'],
    ['no body', path, 'body', 'JSON', ''],
    ['a query', `${path}?reason=x`, 'query', 'no parameters', '{"reason":"x"}'],
  );
}

/** At least one for every operation. */
export const BAD_REQUESTS: readonly BadRequest[] = [
  ...paged('listChanges', '/changes'),
  ...rows(
    'listChanges',
    ['no namespace', '/changes?namespace=A_B', 'query.namespace', 'expected the name of a namespace'],
    [
      'half a source',
      '/changes?source=Secret/db',
      'query.source',
      'expected <kind>/<namespace>/<name> of a source, e.g. Secret/shop/db',
    ],
    [
      'a kind that rolls nothing',
      '/changes?workload=Pod/shop/web',
      'query.workload',
      'expected <kind>/<namespace>/<name> of a workload, e.g. Deployment/shop/web',
    ],
    ['a day in words', '/changes?since=yesterday', 'query.since', 'Invalid ISO datetime'],
    [
      'a cause that there is not',
      '/changes?cause=chance',
      'query.cause',
      'Invalid option: expected one of "updated"|"created"|"deleted"|"missed"|"repeated"|"manual"',
    ],
  ),
  ...rows('getChange', ['no id', '/changes/latest', 'path.id', 'expected the id of a change']),
  ...rows('streamEvents', [
    'no namespace',
    '/events?namespace=-',
    'query.namespace',
    'expected the name of a namespace',
  ]),
  ...paged('listWorkloads', '/workloads'),
  ...rows(
    'listWorkloads',
    ['another kind', '/workloads?kind=Pod', 'query.kind', `Invalid option: expected one of ${KINDS}`],
    [
      'a name that none has',
      `/workloads?name=${LONG}`,
      'query.name',
      'Too big: expected string to have <=253 characters',
    ],
    [
      'a debt that there is not',
      '/workloads?due=yes',
      'query.due',
      'Invalid option: expected one of "owed"|"correct"',
    ],
  ),
  ...rows(
    'getWorkload',
    ['another kind', '/workloads/Pod/shop/web', 'path.kind', `Invalid option: expected one of ${KINDS}`],
    ['no namespace', '/workloads/Job/-/web', 'path.namespace', 'expected the name of a namespace'],
    ['no name', '/workloads/Job/shop/Web', 'path.name', "expected an object's name"],
    ['a path in a name', '/workloads/Job/shop/..%2Fweb', 'path.name', "expected an object's name"],
    ['a query', `${WEB}?watch=true`, 'query', 'no parameters'],
  ),
  ...paged('listSources', '/sources'),
  ...rows('listSources', [
    'another kind',
    '/sources?kind=Pod',
    'query.kind',
    `Invalid option: expected one of ${SOURCES}`,
  ]),
  ...rows('getSource', [
    'another kind',
    '/sources/Pod/shop/web',
    'path.kind',
    `Invalid option: expected one of ${SOURCES}`,
  ]),
  ...rows(
    'explain',
    ['no workload', '/explain?source=Secret/shop/db', 'query.workload', NO_TEXT],
    ['no source', '/explain?workload=Deployment/shop/web', 'query.source', NO_TEXT],
    ['a parameter more', `${WHY}&why=1`, 'query', 'nothing else than documented'],
  ),
  ...rows(
    'preview',
    [
      'nothing to look at',
      '/preview',
      'body.of',
      "Invalid discriminator value. Expected 'source' | 'workload'",
      '{}',
    ],
    [
      'no source',
      '/preview',
      'body.source',
      'Invalid input: expected object, received undefined',
      '{"of":"source"}',
    ],
    ['half a body', '/preview', 'body', 'JSON', '{"of":'],
  ),
  ...rows('listQueues', ['a query', '/queues?name=reloads', 'query', 'no parameters']),
  ...because('pauseQueue', '/queues/notifications/pause'),
  ...rows('pauseQueue', [
    'another queue',
    '/queues/mail/pause',
    'path.name',
    `Invalid option: expected one of ${QUEUES}`,
    '{"reason":"x"}',
  ]),
  ...because('resumeQueue', '/queues/notifications/resume'),
  ...paged('listJobs', '/jobs'),
  ...rows(
    'listJobs',
    ['another queue', '/jobs?queue=mail', 'query.queue', `Invalid option: expected one of ${QUEUES}`],
    [
      'another state',
      '/jobs?state=done',
      'query.state',
      'Invalid option: expected one of "waiting"|"delayed"|"active"|"failed"',
    ],
  ),
  ...rows('getJob', ['no queue', '/jobs/1', 'path.id', 'expected <queue>:<number of the job>']),
  ...because('retryJob', '/jobs/reloads:1/retry'),
  ...because('reloadWorkload', `${WEB}/reload`),
  ...rows('getLimits', ['a query', '/limits?worker=1', 'query', 'no parameters']),
  ...rows(
    'setLimits',
    ['no reason', '/limits', 'body.reason', NO_TEXT, '{"concurrency":1,"reloadsPerMinute":null}'],
    [
      'nothing at a time',
      '/limits',
      'body.concurrency',
      'Too small: expected number to be >=1',
      '{"reason":"x","concurrency":0,"reloadsPerMinute":null}',
    ],
    [
      'a rate in words',
      '/limits',
      'body.reloadsPerMinute',
      'Invalid input: expected number, received string',
      '{"reason":"x","concurrency":null,"reloadsPerMinute":"many"}',
    ],
  ),
  ...paged('listAudit', '/audit'),
  ...rows('listAudit', ['a day in words', '/audit?since=today', 'query.since', 'Invalid ISO datetime']),
  ...rows('getStatus', ['a query', '/status?verbose', 'query', 'no parameters']),
];
