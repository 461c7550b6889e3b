import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { NOW, runCli, type Ran, type RunOptions } from '../testing/run-cli.ts';
import { stubAdmin, type StubAnswer, type StubHandler, type StubRequest } from '../testing/stub-admin.ts';

const folder = mkdtempSync(join(tmpdir(), 'reroll-cli-stale-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString();

interface PodOf {
  readonly name: string;
  readonly createdAgo: number;
  readonly startedAgo?: number;
  readonly namespace?: string;
  readonly spec?: object;
}

/** By default it reads `secret/db` into its environment. */
function pod({ name, createdAgo, startedAgo = createdAgo, namespace = 'shop', spec }: PodOf): object {
  const app = { name: 'app', envFrom: [{ secretRef: { name: 'db' } }] };
  return {
    metadata: {
      name,
      namespace,
      uid: `uid-${name}`,
      resourceVersion: '900',
      creationTimestamp: at(createdAgo),
    },
    spec: { containers: [app], ...spec },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ name: 'app', state: { running: { startedAt: at(startedAgo) } } }],
    },
  };
}

function source(name: string, writtenAgo: number, rv = '500'): object {
  const managedFields = [{ time: at(writtenAgo), fieldsV1: { 'f:data': {} } }];
  return {
    metadata: {
      name,
      namespace: 'shop',
      uid: name,
      resourceVersion: rv,
      creationTimestamp: at(90_000),
      managedFields,
    },
  };
}

const kubeError = (status: number): StubAnswer => ({ status, body: { kind: 'Status', code: status } });
const list = (...items: readonly unknown[]): StubAnswer => ({
  body: { metadata: { resourceVersion: '901' }, items },
});

const PODS = '/api/v1/namespaces/shop/pods';
const DB = '/api/v1/namespaces/shop/secrets/db';

type Answer = ReturnType<StubHandler>;
type Answers = Readonly<Record<string, StubAnswer | ((request: StubRequest) => Answer)>>;

/** An API server that answers by path, with the time of `NOW`. */
async function apiServer(answers: Answers): Promise<{
  readonly requests: readonly StubRequest[];
  readonly run: (words: readonly string[], options?: RunOptions) => Promise<Ran>;
}> {
  const stub = await stubAdmin((request) => {
    const given = answers[request.path] ?? kubeError(404);
    const answer = typeof given === 'function' ? given(request) : given;
    if (answer === undefined || typeof answer === 'function') return answer;
    return { ...answer, headers: { date: new Date(NOW).toUTCString() } };
  });
  const kubeconfig = join(folder, `kubeconfig-${Math.random()}`);
  const parts = {
    clusters: [{ name: 'c', cluster: { server: stub.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
  };
  writeFileSync(kubeconfig, stringify({ ...parts, 'current-context': 'x' }));
  const run = (words: readonly string[], options: RunOptions = {}): Promise<Ran> =>
    runCli(words, { ...options, env: { KUBECONFIG: kubeconfig } });
  return { requests: stub.requests, run };
}

const OLD = pod({ name: 'old', createdAgo: 9_000 });
const NEW = pod({ name: 'new', createdAgo: 100 });
const EDGE = pod({ name: 'edge', createdAgo: 600, startedAgo: 597 });

describe('stale', () => {
  it('lists what is not current, with the time since when and the reason', async () => {
    const { run, requests } = await apiServer({
      [PODS]: list(OLD, NEW, EDGE),
      [DB]: { body: source('db', 600) },
    });
    const { out, err, code } = await run(['stale']);
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n')).toEqual([
      'NAMESPACE   POD    CONTAINER   SOURCE      USE       STATE     SINCE    WHY',
      'shop        old    app         secret/db   envFrom   stale     10m      it started before the last write',
      'shop        edge   app         secret/db   envFrom   unknown   <none>   it started shortly after the last write, in a pod from before; restart it to be sure',
      '',
    ]);
    expect(requests.map(({ path, headers }) => [path, headers.accept])).toEqual([
      [PODS, 'application/json'],
      [DB, METADATA],
      [PODS, METADATA.replace('Metadata;', 'MetadataList;')],
    ]);
    expect(Object.fromEntries(requests[0]?.query ?? [])).toEqual({
      fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
      limit: '500',
    });
    expect(Object.fromEntries(requests[2]?.query ?? [])).toMatchObject({
      resourceVersion: '500',
      resourceVersionMatch: 'Exact',
    });
  });

  it('asks which of them were there at the write, where seconds cannot tell', async () => {
    const { run } = await apiServer({
      [PODS]: ({ query }) => (query.has('resourceVersionMatch') ? list(OLD) : list(OLD, EDGE)),
      [DB]: { body: source('db', 600) },
    });
    expect((await run(['stale', '--all', '-o', 'name'])).out).toBe('pod/old\npod/edge\n');
    expect((await run(['stale', '-o', 'name'])).out).toBe('pod/old\n');
  });

  it.each([[410], [400]])('and does without if the API server has forgotten (%i)', async (status) => {
    const { run } = await apiServer({
      [PODS]: ({ query }) => (query.has('resourceVersionMatch') ? kubeError(status) : list(EDGE)),
      [DB]: { body: source('db', 600) },
    });
    expect((await run(['stale', '-o', 'name'])).out).toBe('pod/edge\n');
  });

  it('prints JSON and YAML with each field', async () => {
    const { run } = await apiServer({ [PODS]: list(OLD), [DB]: { body: source('db', 600) } });
    const item = {
      namespace: 'shop',
      pod: 'old',
      container: 'app',
      source: { kind: 'Secret', namespace: 'shop', name: 'db' },
      use: 'envFrom',
      state: 'stale',
      since: at(600),
      why: 'it started before the last write',
    };
    expect(JSON.parse((await run(['stale', '-o', 'json'])).out)).toEqual({ items: [item] });
    expect(parse((await run(['stale', '-o', 'yaml'])).out)).toEqual({ items: [item] });
  });

  it('reads all namespaces, or one source, and leaves out what Kubernetes mounts into every pod', async () => {
    const root = { projected: { sources: [{ configMap: { name: 'kube-root-ca.crt' } }] } };
    const spec = {
      containers: [
        {
          name: 'app',
          volumeMounts: [{ name: 'token' }],
          env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'api' } } }],
        },
      ],
      volumes: [{ name: 'token', ...root }],
    };
    const both = list(OLD, pod({ name: 'far', createdAgo: 9_000, namespace: 'far', spec }));
    const { run, requests } = await apiServer({
      '/api/v1/pods': both,
      [PODS]: both,
      [DB]: { body: source('db', 600) },
    });
    const lines = (await run(['stale', '-A'])).out.split('\n');
    expect(lines.slice(1, 3)).toEqual([
      expect.stringMatching(/^shop +old .* stale /),
      expect.stringMatching(/^far +far +app +secret\/api +env +unknown +<none> +the source does not exist/),
    ]);
    expect(requests.filter(({ path }) => path.includes('kube-root-ca'))).toEqual([]);
    expect((await run(['stale', '--source', 'secret/db', '-o', 'name'])).out).toBe('pod/old\n');
    expect((await run(['stale', '--source', 'cm/kube-root-ca.crt', '-o', 'name'])).out).toBe('pod/far\n');
  });

  it('says of a source that may not be read that it is not known', async () => {
    const { run } = await apiServer({ [PODS]: list(OLD), [DB]: kubeError(403) });
    expect((await run(['stale'])).out).toContain('unknown   <none>   you may not read the source');
  });

  it('fails if pods may not be listed', async () => {
    const { run } = await apiServer({ [PODS]: kubeError(403) });
    expect(await run(['stale'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('error: GET') as string,
    });
  });
});

describe('wait --converged', () => {
  const wait = ['wait', 'secret/db', '--converged'];

  it('ends with 0 when each use is current, after it has read the source again', async () => {
    const { run, requests } = await apiServer({ [PODS]: list(NEW), [DB]: { body: source('db', 600) } });
    expect(await run(wait)).toEqual({
      code: 0,
      out: 'secret/db converged (uses: 1, in pods: 1)\n',
      err: '',
    });
    expect(requests.map(({ path }) => path)).toEqual([DB, PODS, DB]);
    expect(requests.filter(({ path }) => path === DB).map(({ headers }) => headers.accept)).toEqual([
      METADATA,
      METADATA,
    ]);
  });

  it('says so if nobody uses it', async () => {
    const { run } = await apiServer({ [PODS]: list(), [DB]: { body: source('db', 600) } });
    expect((await run(wait)).out).toBe('secret/db converged (no running container uses it)\n');
  });

  it('goes on while a container is stale, the API server is away, or the source was written meanwhile', async () => {
    const pods = [list(OLD, NEW), kubeError(503), list(NEW), list(NEW)];
    const versions = ['500', '500', '500', '501', '501', '501'];
    const { run } = await apiServer({
      [PODS]: () => pods.shift() ?? kubeError(500),
      [DB]: () => ({ body: source('db', 600, versions.shift()) }),
    });
    const { code, err } = await run([...wait, '--timeout', '60s']);
    expect([code, err]).toEqual([0, 'secret/db: 1 stale, 0 unknown\n']);
    expect([pods, versions]).toEqual([[], []]);
  });

  it('says why something is unknown, and how long that may take', async () => {
    const app = { name: 'app', volumeMounts: [{ name: 'files', mountPath: '/files' }] };
    const spec = { containers: [app], volumes: [{ name: 'files', secret: { secretName: 'db' } }] };
    const mounted = pod({ name: 'mounted', createdAgo: 9_000, spec });
    const { run } = await apiServer({ [PODS]: list(mounted), [DB]: { body: source('db', 60) } });
    const [first] = (await run([...wait, '--timeout', '1s'])).err.split('\n');
    expect(first).toBe(
      'secret/db: 0 stale, 1 unknown (the kubelet may not have noticed the last write yet, which takes up to 3m30s)',
    );
  });

  it('ends with 1 and the list when the time is over', async () => {
    const { run } = await apiServer({ [PODS]: list(OLD, NEW), [DB]: { body: source('db', 600) } });
    const { code, out, err } = await run([...wait, '--timeout', '1s']);
    expect([code, err]).toEqual([
      1,
      'secret/db: 1 stale, 0 unknown\nNot converged within 1s: 1 stale, 0 unknown.\n',
    ]);
    expect(out).toMatch(/^NAMESPACE .*\nshop +old +app +secret\/db +envFrom +stale .*\n$/);
    const document = JSON.parse((await run([...wait, '--timeout', '1s', '-o', 'json'])).out) as object;
    expect(document).toMatchObject({ converged: false, items: [{ pod: 'old', state: 'stale' }] });
  });

  it('ends then also if the API server does not answer, or only with errors', async () => {
    const silent = await apiServer({ [DB]: () => () => undefined });
    expect(await silent.run([...wait, '--timeout', '1s'])).toMatchObject({ code: 1, out: '' });
    const broken = await apiServer({ [DB]: kubeError(503) });
    const { code, err } = await broken.run([...wait, '--timeout', '1s']);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^Not converged .*\nThe last answer was: GET .*503/),
    ]);
  });

  it('goes on if the source is deleted and created again', async () => {
    const answers = [{ body: source('db', 600) }, kubeError(404)];
    const pods = [list(OLD)];
    const { run } = await apiServer({
      [PODS]: () => pods.shift() ?? list(NEW),
      [DB]: () => answers.shift() ?? { body: source('db', 600) },
    });
    expect(await run([...wait, '--timeout', '60s'])).toMatchObject({ code: 0 });
    expect(answers).toEqual([]);
  });

  it.each([
    ['it does not exist', { [PODS]: list() }, 'error: there is no secret/db in the namespace shop\n'],
    [
      'it may not be read',
      { [DB]: kubeError(403) },
      'error: you may not read secret/db in the namespace shop\n',
    ],
  ])('ends at once if %s', async (_, answers, err) => {
    const { run } = await apiServer(answers);
    expect(await run(wait)).toEqual({ code: 1, out: '', err });
  });

  it.each([
    [['wait', 'secret/db'], "required option '--converged' not specified"],
    [['wait', 'spc/vault', '--converged'], 'expected a ConfigMap or Secret'],
    [[...wait, '--timeout', '0'], 'expected --timeout to be more than 0'],
  ])('%j is called wrongly', async (words, message) => {
    const { run, requests } = await apiServer({});
    expect(await run(words)).toMatchObject({ code: 2, err: expect.stringContaining(message) as string });
    expect(requests).toEqual([]);
  });

  it('ends with 130 at Ctrl-C', async () => {
    const { run } = await apiServer({ [PODS]: list(OLD), [DB]: { body: source('db', 600) } });
    const interrupt = new AbortController();
    const onOutput = (): void => interrupt.abort();
    expect(await run(wait, { signal: interrupt.signal, onOutput })).toMatchObject({ code: 130, out: '' });
  });
});
