import { OPERATIONS, type OperationId } from '@reroll/shared/api/operations';
import { describe, expect, it } from 'vitest';
import { VERSION } from '@reroll/shared/platform/process/version';
import { parse } from 'yaml';
import {
  change,
  changeSummary,
  changeWorkload,
  status,
  WEB,
  workload,
  workloadSummary,
} from './testing/answers.ts';
import { runCli, type Ran, type RunOptions } from './testing/run-cli.ts';
import { problem, stubAdmin, type StubAnswer, type StubRequest } from './testing/stub-admin.ts';

const ACCEPTED = { id: '1763737200123-0', at: '2026-11-21T15:00:00.000Z' };
const JOB = {
  id: 'reloads:1234',
  queue: 'reloads',
  state: 'failed',
  subject: 'Deployment/shop/web',
  since: null,
  createdAt: '2026-11-21T14:00:00.000Z',
  startedAt: null,
  endedAt: null,
  until: null,
  attempts: { made: 5, most: 5 },
  error: 'KUBE_API 403',
};
const QUEUE = {
  name: 'reloads',
  paused: true,
  counts: { waiting: 3, delayed: 0, active: 1, failed: 2 },
  oldestDueSeconds: 90,
};
const AUDIT = {
  id: '1-0',
  at: '2026-11-21T14:59:00.000Z',
  actor: 'alice',
  action: 'reloadWorkload',
  target: 'Deployment/shop/web',
  reason: 'rotated',
  result: 'done',
  requestId: 'r1',
};
const SOURCE = {
  kind: 'Secret',
  namespace: 'shop',
  name: 'db',
  exists: true,
  hash: '2.bbbbbbbbbbbbbbb',
  workloads: 1,
  changedAt: '2026-11-21T14:00:00.000Z',
};
const { source: _source, ...DEPENDENCY } = workload().sourcesInDetail[0] ?? { source: undefined };
const EXPLANATION = {
  workload: WEB,
  source: { kind: 'Secret', namespace: 'shop', name: 'db' },
  conclusion: 'Deployment shop/web does not reload when Secret shop/db changes: nothing asks for it.',
  reloads: false,
  reason: 'NotAnnotated',
  rules: [
    { rule: 'IgnoredSource', outcome: 'pass', decides: false, reason: null, detail: 'it is not ignored' },
    { rule: 'NotAsked', outcome: 'skip', decides: true, reason: 'NotAnnotated', detail: 'nothing asks' },
  ],
  use: {
    used: true,
    mentioned: false,
    hasContainers: true,
    needed: true,
    places: null,
    detail: 'by a volume',
  },
  edge: false,
  record: { recorded: null, current: '2.bbb', agrees: null, doubtful: false },
  due: { state: null, known: true, detail: 'nothing' },
  holds: [],
  facts: 'catalog',
};
const PREVIEW = {
  verdicts: [
    {
      workload: WEB,
      source: EXPLANATION.source,
      reloads: true,
      reason: 'AutoReload',
      detail: 'it would',
      wave: 2,
      held: { reason: 'OutsideWindow', until: '2026-11-21T22:00:00.000Z', detail: 'closed' },
    },
  ],
  today: [],
  conclusion: '1 workload would reload, 0 would be left alone.',
};

const STUCK = { workload: WEB, reloaded: true, detail: 'is stuck (OutOfQuota)' };
const WAVES = {
  hash: change().to,
  waves: '1,100%',
  bake: '2m',
  plan: [
    { state: 'halted', until: null, size: 1, reloaded: 1, workloads: [STUCK] },
    { state: 'waiting', until: null, size: 3, reloaded: 0, workloads: [] },
  ],
  problem: null,
  halted: STUCK,
  resumed: false,
};

const ANSWERS: Readonly<Record<string, unknown>> = {
  'GET /api/v1/status': status({ warnings: ['no worker is alive'] }),
  'GET /api/v1/changes': { items: [changeSummary()], next: null },
  'GET /api/v1/changes/1763737200123-0': change({
    workloads: [changeWorkload('failed', { error: 'KUBE_API 403' })],
  }),
  'GET /api/v1/changes/1763737200125-0': change({ source: null, cause: 'manual' }),
  'GET /api/v1/changes/1763737200124-0': change({
    more: { woken: 950, leftAlone: 3 },
    counted: { Reloaded: 940 },
    merged: 2,
  }),
  'GET /api/v1/workloads': { items: [workloadSummary()], next: null },
  'GET /api/v1/workloads/Deployment/shop/web': workload(),
  'GET /api/v1/sources': { items: [SOURCE], next: null },
  'GET /api/v1/sources/Secret/shop/db': {
    ...SOURCE,
    annotations: { 'reloader.stakater.com/match': 'true' },
    workloadsInDetail: [{ ...DEPENDENCY, workload: WEB }],
    history: workload().history,
  },
  'GET /api/v1/sources/Secret/shop/db/waves': WAVES,
  'GET /api/v1/explain': EXPLANATION,
  'POST /api/v1/preview': PREVIEW,
  'GET /api/v1/queues': { items: [QUEUE] },
  'POST /api/v1/queues/reloads/pause': QUEUE,
  'POST /api/v1/queues/reloads/resume': { ...QUEUE, paused: false },
  'GET /api/v1/jobs': { items: [JOB], next: null },
  'GET /api/v1/jobs/reloads:1234': JOB,
  'GET /api/v1/jobs/reloads:1235': { ...JOB, subject: null },
  'POST /api/v1/jobs/reloads:1234/retry': ACCEPTED,
  'POST /api/v1/workloads/Deployment/shop/web/reload': ACCEPTED,
  'GET /api/v1/limits': { concurrency: null, reloadsPerMinute: 60 },
  'PUT /api/v1/limits': { concurrency: 4, reloadsPerMinute: 60 },
  'GET /api/v1/audit': { items: [AUDIT], next: null },
};

const admin = await stubAdmin(({ method, path }) => {
  const body = ANSWERS[`${method} ${path}`];
  return body === undefined ? undefined : { body };
});

/** What is of the whole installation, such as a queue, takes no namespace. */
const takesNamespace = ([command = '', object = '']: readonly string[]): boolean =>
  !['jobs', 'queues', 'audit'].includes(command) && object.toLowerCase() !== 'reloads';

async function cli(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const env = { REROLL_SERVER: admin.url, REROLL_TOKEN: 'test-token', ...options.env };
  return await runCli([...(takesNamespace(words) ? ['-n', 'shop'] : []), ...words], { ...options, env });
}

function lastRequest(): StubRequest {
  const last = admin.requests.at(-1);
  if (last === undefined) throw new Error('expected a request');
  return last;
}

it('the stub answers as the API documents it', () => {
  const seen = new Set<string>();
  for (const [key, body] of Object.entries(ANSWERS)) {
    const [method = '', path = ''] = key.replace('/api/v1', '').split(' ');
    const found = Object.entries(OPERATIONS).find(([, each]) => {
      const pattern = new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      return each.method === method.toLowerCase() && pattern.test(path);
    });
    const [id, operation] = found ?? [];
    seen.add(id ?? key);
    expect([
      key,
      operation && 'answer' in operation && operation.answer.safeParse(body).error?.issues,
    ]).toEqual([key, undefined]);
  }
  // Holds are written to the cluster itself. Bulk writes have a spec of their own. Namespaces are completed by the API server.
  const unused: OperationId[] = [
    'bulkReload',
    'bulkFreeze',
    'bulkUnfreeze',
    'bulkApprove',
    'bulkRetry',
    'freezeWorkload',
    'unfreezeWorkload',
    'approveWorkload',
    'freezeNamespace',
    'unfreezeNamespace',
    'freezeAll',
    'unfreezeAll',
    'resumeChange',
  ];
  const others: OperationId[] = ['getConsumers', 'listNamespaces', 'streamEvents', ...unused];
  expect([...seen, ...others].sort()).toEqual(Object.keys(OPERATIONS).sort());
});

describe('every command, as a table, as JSON and as YAML', () => {
  it.each([
    [['status'], 'GET /api/v1/status', 'warning: no worker is alive'],
    [
      ['changes'],
      'GET /api/v1/changes',
      '1763737200123-0   3m20s   secret/db   updated   2 rolledOut, 1 failed',
    ],
    [
      ['change', '1763737200123-0'],
      'GET /api/v1/changes/1763737200123-0',
      'deployment/web   failed   AutoReload   1/5        3m18s   KUBE_API 403',
    ],
    [
      ['change', '1763737200123-0'],
      'GET /api/v1/changes/1763737200123-0',
      '1      halted    1/1        <none>   deployment/web, which is stuck (OutOfQuota)',
    ],
    [
      ['change', '1763737200123-0'],
      'GET /api/v1/changes/1763737200123-0',
      'Halted: deployment/web is stuck (OutOfQuota).',
    ],
    [
      ['change', '1763737200124-0'],
      'GET /api/v1/changes/1763737200124-0',
      'and 950 more with a reload job (940 Reloaded), and 3 more not reloaded: see `why` for any of them',
    ],
    [
      ['workloads'],
      'GET /api/v1/workloads',
      'deployment/web   2         no    complete   60m        AutoReload',
    ],
    [
      ['workloads', 'deploy/web'],
      'GET /api/v1/workloads/Deployment/shop/web',
      'Annotation:    reloader.stakater.com/auto=true',
    ],
    [
      ['workloads', 'deploy', 'web'],
      'GET /api/v1/workloads/Deployment/shop/web',
      'secret/db   used   yes       AutoReload   no    it uses the source',
    ],
    [['sources'], 'GET /api/v1/sources', 'secret/db   yes      1           60m'],
    [
      ['sources', 'secret/db'],
      'GET /api/v1/sources/Secret/shop/db',
      'deployment/web   used   yes       AutoReload   no    it uses the source',
    ],
    [
      ['why-not', 'deploy/web', '--source', 'secret/db'],
      'GET /api/v1/explain',
      '*   NotAsked        skip   NotAnnotated   nothing asks',
    ],
    [
      ['preview', 'secret/db'],
      'POST /api/v1/preview',
      '2      deployment/web   secret/db   yes       OutsideWindow until 2026-11-21T22:00:00.000Z   AutoReload   it would',
    ],
    [['queues'], 'GET /api/v1/queues', 'reloads   yes      3         0         1        2        90s'],
    [
      ['jobs'],
      'GET /api/v1/jobs',
      'reloads:1234   failed   Deployment/shop/web   5/5        60m   <none>   KUBE_API 403',
    ],
    [['limits'], 'GET /api/v1/limits', "Concurrency:          as the workers' flag says"],
    [['audit'], 'GET /api/v1/audit', '60s   alice   reloadWorkload   Deployment/shop/web   done     rotated'],
    [['pause', 'reloads', '--reason', 'r'], 'POST /api/v1/queues/reloads/pause', 'queue/reloads paused'],
    [['resume', 'Reloads', '--reason', 'r'], 'POST /api/v1/queues/reloads/resume', 'queue/reloads resumed'],
    [
      ['retry', 'reloads:1234', '--reason', 'r'],
      'POST /api/v1/jobs/reloads:1234/retry',
      'job/reloads:1234 is tried again',
    ],
    [
      ['reload', 'deploy/web', '--reason', 'r'],
      'POST /api/v1/workloads/Deployment/shop/web/reload',
      'deployment.apps/web reload requested (change 1763737200123-0)',
    ],
    [['limits', '--concurrency', '4', '--reason', 'r'], 'PUT /api/v1/limits', 'Concurrency:          4'],
  ])('%j', async (words, request, line) => {
    const before = admin.requests.length;
    const told = await cli(words);
    expect(told).toMatchObject({ code: 0, err: '' });
    expect(told.out.split('\n')).toContain(line);
    const sent = admin.requests.slice(before);
    const asked = ({ method, path }: StubRequest): string => `${method} ${path}`;
    expect(sent.map(asked)).toContain(request);
    const { method, headers } = sent.find((each) => asked(each) === request) ?? lastRequest();
    expect(headers['authorization']).toBe('Bearer test-token');
    expect(headers['idempotency-key'] !== undefined).toBe(method !== 'GET');
    const { next: _next, ...body } = ANSWERS[request] as { next?: unknown };
    expect(JSON.parse((await cli([...words, '-o', 'json'])).out)).toEqual(body);
    expect(parse((await cli([...words, '-o', 'yaml'])).out)).toEqual(body);
  });

  it.each([
    [[], {}],
    [['--now'], { now: true }],
    [['--override-freeze'], { overrideFreeze: true }],
    [['--now', '--override-freeze'], { now: true, overrideFreeze: true }],
  ])('reload %j asks to pass %j', async (flags, passes) => {
    await cli(['reload', 'deploy/web', '--reason', 'r', ...flags]);
    expect(JSON.parse(lastRequest().body)).toEqual({ reason: 'r', ...passes });
  });

  it.each([
    [['changes'], '1763737200123-0\n'],
    [['workloads'], 'deployment.apps/web\n'],
    [['sources'], 'secret/db\n'],
    [['workloads', 'deploy/web'], 'deployment.apps/web\n'],
    [['sources', 'secret', 'db'], 'secret/db\n'],
    [['jobs'], 'reloads:1234\n'],
    [['queues'], 'reloads\n'],
  ])('%j -o name prints what the commands take back', async (words, out) => {
    expect(await cli([...words, '-o', 'name'])).toEqual({ code: 0, out, err: '' });
  });

  it('-o wide has more', async () => {
    expect((await cli(['changes', '-o', 'wide'])).out).toContain('2.aaaaaaaaaa   2.bbbbbbbbbb');
    expect((await cli(['workloads', '-o', 'wide'])).out).toContain('1763737200123-0');
  });

  it('why tells the last reload in a sentence, then what it depends on as a tree', async () => {
    const { out, code } = await cli(['why', 'deploy/web']);
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toBe(
      'Reroll reloaded deployment/web 60m ago, because secret/db was updated (change 1763737200123-0, AutoReload). Its pods were replaced.',
    );
    expect(out.split('\n').slice(1)).toEqual([
      '├─ Rollout   complete (Complete, 2 of 2 pods ready)',
      '├─ Pending   nothing',
      '└─ Sources',
      '   └─ secret/db   reloads it (AutoReload): it uses the source',
      '',
    ]);
    const wide = await cli(['why', 'deploy/web', '-o', 'wide']);
    expect(wide.out).toContain('reloads it (AutoReload); recorded 2.bbb, current 2.bbb: it uses the source');
  });

  it('lists take filters, all namespaces and times, and ask for no more than the limit', async () => {
    await cli([
      'changes',
      '--source',
      'secret/db',
      '--workload',
      'deploy/web',
      '--state',
      'stuck',
      '--cause',
      'manual',
      '--since',
      '1h',
      '--limit',
      '7',
    ]);
    expect(Object.fromEntries(lastRequest().query)).toEqual({
      namespace: 'shop',
      source: 'Secret/shop/db',
      workload: 'Deployment/shop/web',
      state: 'stuck',
      cause: 'manual',
      since: '2026-11-21T14:00:00.000Z',
      limit: '7',
    });
    const all = await cli(['changes', '-A']);
    expect(lastRequest().query.has('namespace')).toBe(false);
    expect(all.out.split('\n')[0]).toMatch(/^NAMESPACE +ID/);
  });

  it.each([
    ['--source', 'Secret/bank/db'],
    ['--workload', 'Deployment/bank/web'],
  ])('changes %s %s is looked for in the namespace of the object', async (flag, key) => {
    for (const flags of [[], ['-A']]) {
      await cli(['changes', flag, key, ...flags]);
      expect(Object.fromEntries(lastRequest().query)).toMatchObject({
        namespace: 'bank',
        [flag.slice(2)]: key,
      });
    }
  });

  it('limits sets what is given and leaves the rest as it is', async () => {
    await cli(['limits', '--concurrency', 'default', '--reason', 'calm again']);
    expect(JSON.parse(lastRequest().body)).toEqual({
      concurrency: null,
      reason: 'calm again',
    });
  });

  it('preview sends the whole set of annotations that there would be', async () => {
    await cli(['preview', 'deploy/web', '--annotate', 'reloader.stakater.com/auto-', '--annotate', 'a/b=c']);
    expect(JSON.parse(lastRequest().body)).toEqual({
      of: 'workload',
      workload: WEB,
      annotations: { 'a/b': 'c' },
    });
    await cli(['preview', 'secret', 'db', '--annotate', 'x=y']);
    expect(JSON.parse(lastRequest().body)).toMatchObject({
      of: 'source',
      annotations: { 'reloader.stakater.com/match': 'true', x: 'y' },
    });
  });

  it('version tells both', async () => {
    expect((await cli(['version'])).out).toBe(`Client: ${VERSION}\nServer: 7.8.9\n`);
    expect((await cli(['version', '--client'])).out).toBe(`Client: ${VERSION}\n`);
    const both = { client: VERSION, server: '7.8.9' };
    expect(JSON.parse((await cli(['version', '-o', 'json'])).out)).toEqual(both);
  });
});

describe('called wrongly, it says what was expected and given, and ends with 2', () => {
  it.each([
    [['reload', 'deploy/web'], "required option '--reason <text>' not specified"],
    [
      ['reload', 'pod/web', '--reason', 'r'],
      'expected a workload (deploy, sts, ds, cj, job, ro, dc), given "pod"',
    ],
    [
      ['reload', 'deploy/web', '--reason', 'r', '--timeout', 'soon'],
      'expected --timeout to be a duration, e.g. 30s or 2m, given "soon"',
    ],
    [
      ['pause', 'everything', '--reason', 'r'],
      'expected the queue to be one of changes, reloads, resumes, notifications, given "everything"',
    ],
    [['reload', 'deploy/web', '--reason', 'r', '--timeout', '1m'], 'expected --wait with --timeout'],
    ...(['--kind=deploy', '--name=w', '--due=owed', '--rollout=stuck', '--limit=3'] as const).map(
      (flag): [string[], string] => [
        ['workloads', 'deploy/web', flag],
        `expected ${flag.split('=')[0]} only with a list, given a single object`,
      ],
    ),
    ...(['--kind=secret', '--name=d', '--limit=3'] as const).map((flag): [string[], string] => [
      ['sources', 'secret/db', flag],
      `expected ${flag.split('=')[0]} only with a list, given a single object`,
    ]),
    ...[
      ['workloads', 'deploy/web'],
      ['sources', 'secret/db'],
      ['why', 'deploy/web'],
      ['why-not', 'deploy/web', '--source', 'secret/db'],
      ['preview', 'secret/db'],
      ['reload', 'deploy/web', '--reason', 'r'],
      ['approve', 'deploy/web'],
      ['wait', 'secret/db', '--converged'],
      ['resume', 'secret/db', '--reason', 'r'],
    ].map((words): [string[], string] => [
      [...words, '-A'],
      'expected no --all-namespaces with a single object',
    ]),
    [
      ['changes', '--source', 'Secret/shop/db', '--workload', 'Deployment/bank/web'],
      'expected --source and --workload in the same namespace, given shop and bank',
    ],
    [['change', 'abc'], 'id: expected the id of a change'],
    [['retry', 'abc', '--reason', 'r'], 'id: expected <queue>:<number of the job>'],
    [['reload', 'deploy/web', '--reason', ' '], 'reason: expected at least 1 character'],
    [
      ['changes', '-o', 'xml'],
      "option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are json, yaml, wide, name.",
    ],
    [
      ['why', 'deploy/web', '-o', 'name'],
      "option '-o, --output <format>' argument 'name' is invalid. Allowed choices are json, yaml, wide.",
    ],
    [['changes', '-w', '-o', 'yaml'], 'expected -o json or none with --watch, given "yaml"'],
    [
      ['limits', '--concurrency', '0', '--reason', 'r'],
      'expected --concurrency to be a number of 1 to 1000, or default, given "0"',
    ],
    [['limits', '--concurrency', '4'], 'expected --reason with a limit that is set'],
    [
      ['preview', 'deploy/web'],
      'expected --annotate with a workload; use `why` to see what restarts it today',
    ],
    [['why-not', 'deploy/web'], "required option '--source <source>' not specified"],
    [['chnages'], "unknown command 'chnages'\n  (Did you mean changes?)\n  --help lists the commands\n"],
    [['status', 'x'], "too many arguments for 'status'. Expected 0 arguments but got 1: x."],
    [['status', '--color'], "unknown option '--color'"],
    [
      ['status', '--request-timeout', 'x'],
      'expected --request-timeout to be a duration, e.g. 30s or 2m, given "x"',
    ],
    [['status', '--server', 'ftp://x'], 'expected --server to be an http or https URL, given "ftp://x"'],
  ])('%j', async (words, message) => {
    const before = admin.requests.length;
    const { code, out, err } = await cli(words);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`error: ${message}`);
    expect(admin.requests.length).toBe(before);
  });

  it('help is no error', async () => {
    expect(await cli(['reload', '--help'])).toMatchObject({ code: 0, err: '' });
    expect((await runCli(['help', 'changes'], { file: '/x/kubectl-reroll' })).out).toContain(
      'Usage: kubectl reroll changes [options]',
    );
    expect((await runCli(['--version'])).out).toBe(`${VERSION}\n`);
  });
});

describe('an object of another namespace than -n names', () => {
  it.each([
    [['change', '1763737200123-0'], 'change 1763737200123-0 is of the namespace shop, not bank'],
    [['change', '1763737200123-0', '--watch'], 'change 1763737200123-0 is of the namespace shop, not bank'],
    [['change', '1763737200125-0'], 'change 1763737200125-0 is of the namespace shop, not bank'],
    [['retry', 'reloads:1234', '--reason', 'r'], 'job reloads:1234 is of the namespace shop, not bank'],
  ])('%j is refused', async (words, message) => {
    const before = admin.requests.length;
    expect(await cli([...words, '-n', 'bank'])).toEqual({ code: 1, out: '', err: `error: ${message}\n` });
    expect(admin.requests.slice(before).map(({ method }) => method)).toEqual(['GET']);
    // For the account bank/bot.
    const account = ['--service-account', 'bot', '--allow-http'];
    expect((await cli([...words, '-n', 'bank', ...account])).err).not.toContain('is of the namespace');
  });

  it('a job whose subject is not known is not retried', async () => {
    const told = await cli(['retry', 'reloads:1235', '--reason', 'r']);
    expect(told.err).toBe('error: expected no --namespace: the subject of job reloads:1235 is not known\n');
    expect(lastRequest().method).toBe('GET');
  });
});

describe('what fails is told in a line, with what can be done, and without a stack', () => {
  const failing = (answer: StubAnswer) => stubAdmin(() => answer);

  it.each([
    [
      'a problem with its places',
      problem(400, 'InvalidRequest', {
        detail: 'see errors',
        errors: [{ path: 'query.since', expected: 'a time' }],
      }),
      'error: title of InvalidRequest: see errors\n  query.since: a time\n',
    ],
    [
      'no valid token',
      problem(401, 'Unauthenticated'),
      'error: title of Unauthenticated\n  --service-account NAME asks the API server for a token of ten minutes (REROLL_SERVICE_ACCOUNT)\n  or set one, e.g. REROLL_TOKEN="$(kubectl create token NAME --audience=reroll)"\n',
    ],
    [
      'an escape in a detail',
      problem(404, 'NotFound', { detail: '\u001b[2J' }),
      'error: title of NotFound: \\u001b[2J\n',
    ],
    [
      'a proxy in between',
      { status: 500, type: 'text/html', body: '<html>' },
      'error: the admin could not be reached\n  URL answered 500\n',
    ],
    [
      'an answer that is none',
      { body: { version: 7 } },
      "error: the admin's answer (getStatus) is not what this version understands: version: Invalid input: expected string, received number\n  `version` shows both versions\n",
    ],
  ])('%s', async (_, answer, err) => {
    const { url } = await failing(answer);
    const told = await runCli(['status', '-n', 'shop', '--server', url]);
    expect(told).toEqual({ code: 1, out: '', err: err.replace('URL', url) });
  });

  it('nobody there', async () => {
    const told = await runCli(['status', '--server', 'http://127.0.0.1:1']);
    expect(told).toEqual({
      code: 1,
      out: '',
      err: 'error: the admin could not be reached\n  http://127.0.0.1:1 could not be reached (ECONNREFUSED)\n',
    });
  });

  it('an answer that does not come in time', async () => {
    const { url } = await stubAdmin(() => () => undefined);
    const told = await runCli(['status', '--server', url, '--request-timeout', '100ms']);
    expect(told).toMatchObject({
      code: 1,
      err: `error: the admin could not be reached\n  ${url} did not answer in time\n`,
    });
  });

  it.each([
    ['--token', ['--token', 't'], {}],
    ['REROLL_TOKEN', [], { REROLL_TOKEN: 't' }],
    ['--service-account', ['--service-account', 'bot'], {}],
    ['--send-kubeconfig-token', ['--send-kubeconfig-token'], {}],
  ])('the token of %s is not sent over plain http to another machine', async (_, words, env) => {
    const told = await runCli(['status', '--server', 'http://192.0.2.1', ...words], { env });
    expect([told.code, told.err]).toEqual([
      1,
      expect.stringContaining('error: a token is not sent over plain http to another machine\n'),
    ]);
  });

  it('no kubeconfig at all', async () => {
    const { code, err } = await runCli(['status']);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('found no kubeconfig: looked for /nonexistent/.kube/config'),
    ]);
  });

  it('a busy admin is asked again, the same write under the same key', async () => {
    let left = 1;
    const busy = await stubAdmin(() =>
      left-- > 0
        ? { ...problem(429, 'TooManyRequests'), headers: { 'retry-after': '0.01' } }
        : { body: ACCEPTED },
    );
    const told = await runCli(['reload', 'deploy/web', '-n', 'shop', '--reason', 'r', '--server', busy.url]);
    expect(told.code).toBe(0);
    expect(busy.requests).toHaveLength(2);
    expect(new Set(busy.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });
});

describe('text of others reaches no terminal as it is', () => {
  const EVIL = 'a\u001b[2J\nb';

  it.each([
    [['reload', 'deploy/web', '-n', 'shop', '--reason', 'r'], { ...ACCEPTED, id: EVIL }],
    [['pause', 'reloads', '--reason', 'r'], { ...QUEUE, name: EVIL }],
  ])('%j', async (words, body) => {
    const { url } = await stubAdmin(() => ({ body }));
    const { code, out, err } = await runCli([...words, '--server', url]);
    expect([code, (out + err).trimEnd().split('\n').length]).toEqual([0, 1]);
    expect(out).toContain(String.raw`a\u001b[2J\u000ab`);
  });
});
