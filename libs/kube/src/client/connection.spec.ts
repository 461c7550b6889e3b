import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { KubeClient, MERGE_PATCH, type RequestReport } from './connection.ts';
import { KubeError } from './errors.ts';
import { objectPath, type KubeObject } from '../objects.ts';
import { ControlPlane } from '../testing/control-plane.ts';
import { workloadKind } from '../workloads/registry.ts';

/** Planted wherever the server could quote it. */
const MARKER = 'hunter2-d3adb33f';

let plane: ControlPlane;

beforeAll(async () => {
  plane = await ControlPlane.start();
});
afterAll(async () => {
  await plane.stop();
});

/** The error of a call that must fail. */
async function errorOf(call: Promise<unknown>): Promise<KubeError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof KubeError)) throw new TypeError(`expected a KubeError, given ${String(error)}`);
  return error;
}

function everythingIn(error: KubeError): string {
  return [JSON.stringify(error), String(error), error.stack, JSON.stringify(error.cause)].join('\n');
}

function deployment(env: readonly object[] = []): object {
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'app', image: 'app:1', env }] },
  };
  return {
    metadata: { name: 'web' },
    spec: { replicas: 0, selector: { matchLabels: { app: 'web' } }, template },
  };
}

test('the time of the API server is that of its answers, and before the first one that of this process', async () => {
  const ahead = 3_600_000;
  const { client, close } = await against((_, response) => {
    response.setHeader('date', new Date(Date.now() + ahead).toUTCString());
    response.setHeader('content-type', 'application/json').end('{}');
  });
  const difference = (): number => client.apiTime() - Date.now();
  expect(Math.abs(difference())).toBeLessThan(60_000);
  await client.get('/version');
  expect(Math.abs(difference() - ahead)).toBeLessThan(60_000);
  await close();
});

test('an answer that takes long moves the time of the API server no further ahead, but one that shows another time does', async () => {
  let ahead = 0;
  let wait = 0;
  const { client, close } = await against((_, response) => {
    setTimeout(() => {
      response.setHeader('date', new Date(Date.now() + ahead).toUTCString());
      response.setHeader('content-type', 'application/json').end('{}');
    }, wait);
  });
  /** After one more answer, by how much the API server is ahead. */
  const known = async (): Promise<number> => {
    await client.get('/version');
    return client.apiTime() - performance.now();
  };
  const before = await known();
  // Longer than a second, which is what a `Date` does not tell.
  wait = 1_500;
  expect(await known()).toBeLessThanOrEqual(before + 1);
  wait = 0;
  for (ahead of [3_600_000, -3_600_000])
    expect(Math.abs((await known()) - before - ahead)).toBeLessThan(60_000);
  await close();
});

test('while no answer comes, the time of the API server may be ahead by as much as clocks drift', async () => {
  const { client, close } = await against((_, response) => {
    response.setHeader('date', new Date(Date.now()).toUTCString());
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await client.get('/version');
  const now = performance.now();
  const ahead = (): number => client.apiTime() - performance.now();
  const clock = vi.spyOn(performance, 'now');
  onTestFinished(() => clock.mockRestore());
  clock.mockReturnValue(now);
  const before = ahead();
  const day = 86_400_000;
  clock.mockReturnValue(now + day);
  // 500 ppm.
  expect(ahead() - before).toBeCloseTo(43_200, 3);
  clock.mockRestore();
  await close();
});

describe('requests', () => {
  test('create, read, patch and replace an object', async () => {
    const namespace = await plane.namespace();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const created = await plane.client.post<KubeObject>(path, { metadata: { name: 'a' }, data: { k: '1' } });
    expect(created.status).toBe(201);
    expect(Math.abs((created.date ?? 0) - Date.now())).toBeLessThan(5000);
    const patched = await plane.client.patch<KubeObject>(`${path}/a`, [
      { op: 'test', path: '/data/k', value: '1' },
    ]);
    expect(patched.body.metadata.uid).toBe(created.body.metadata.uid);
    await plane.client.put(`${path}/a`, { ...patched.body, data: { k: '2' } });
    const { body } = await plane.client.get<KubeObject & { data: object }>(`${path}/a`);
    expect(body.data).toEqual({ k: '2' });
  });

  test('a test of a JSON Patch compares characters that JSON may escape', async () => {
    const path = `/api/v1/namespaces/${await plane.namespace()}/configmaps`;
    const value = '^(?<name>a|b)&c$ "\\/ \b\f\n\r\t\u0001\u007F\u2028\u2029 é 😀';
    await plane.client.post(path, { metadata: { name: 'a', annotations: { it: value } } });
    const patch = (tested: string) =>
      plane.client.patch<KubeObject>(`${path}/a`, [
        { op: 'test', path: '/metadata/annotations/it', value: tested },
        { op: 'add', path: '/metadata/annotations/too', value },
      ]);
    const { body } = await patch(value);
    expect(body.metadata.annotations).toEqual({ it: value, too: value });
    expect(await errorOf(patch(value.replace('<', '>')))).toMatchObject({ status: 422, causes: [] });
  });

  test('the query, the user agent and the path reach the server as given', async () => {
    const seen: (string | undefined)[] = [];
    const { client, close } = await against((request, answer) => {
      seen.push(request.url, request.headers['user-agent'], request.headers.accept);
      answer.end('{}');
    });
    await client.get('/api/v1/configmaps', {
      query: { fieldSelector: 'type!=a/b', limit: 5, continue: undefined },
    });
    expect(seen).toEqual([
      '/base/api/v1/configmaps?fieldSelector=type%21%3Da%2Fb&limit=5',
      'reroll-spec/0',
      'application/json',
    ]);
    await close();
  });

  test('each request is reported with verb, resource, status and duration', async () => {
    const reports: RequestReport[] = [];
    const client = plane.connect({ onRequest: (report) => reports.push(report) });
    const namespace = await plane.namespace();
    await client.get(`/api/v1/namespaces/${namespace}/secrets`);
    await errorOf(client.get(`/api/v1/namespaces/${namespace}/secrets/none`));
    expect(reports.map(({ verb, resource, status }) => [verb, resource, status])).toEqual([
      ['list', 'secrets', 200],
      ['get', 'secrets', 404],
    ]);
    expect(reports.every(({ durationMs }) => durationMs > 0)).toBe(true);
  });

  test('a closed client refuses at once', async () => {
    const client = plane.connect();
    await client.get('/version');
    await client.close();
    expect(await errorOf(client.get('/version'))).toMatchObject({ code: 'KUBE_ABORTED', retryable: false });
  });
});

describe('what an error says', () => {
  test('a failed test of a JSON Patch is a 422 without causes', async () => {
    const namespace = await plane.namespace();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await plane.client.post(path, { metadata: { name: 'a' }, data: { k: MARKER } });
    const error = await errorOf(
      plane.client.patch(`${path}/a`, [{ op: 'test', path: '/data/k', value: 'x' }]),
    );
    expect(error).toMatchObject({ code: 'KUBE_API', status: 422, hasCauses: false, retryable: false });
    expect(everythingIn(error)).not.toContain(MARKER);
  });

  test('an invalid object is a 422 with its causes’ fields, and not a word of the server', async () => {
    const namespace = await plane.namespace();
    const path = objectPath(workloadKind('Deployment') ?? expect.fail('no such kind'), {
      namespace,
      name: 'web',
    });
    await plane.client.post(path.replace(/\/web$/, ''), deployment());
    const value = [{ name: `=${MARKER}`, value: MARKER }];
    const error = await errorOf(
      plane.client.patch(path, [{ op: 'add', path: '/spec/template/spec/containers/0/env', value }]),
    );
    expect(error).toMatchObject({ status: 422, reason: 'Invalid', hasCauses: true, retryable: false });
    expect(error.causes).toEqual([
      { reason: 'FieldValueInvalid', field: 'spec.template.spec.containers[0].env[0].name' },
    ]);
    expect(everythingIn(error)).not.toContain(MARKER);
  });

  test.each([
    ['an object that does not exist', 'GET', '/api/v1/namespaces/default/configmaps/none', 404, 'NotFound'],
    ['a kind that does not exist', 'GET', '/apis/none.example/v1/things', 404, 'Unknown'],
    ['a method that is not allowed', 'DELETE', '/api/v1/namespaces', 405, 'MethodNotAllowed'],
  ] as const)('%s', async (_name, method, path, status, reason) => {
    const error = await errorOf(plane.client.request({ method, path }));
    expect(error).toMatchObject({ code: 'KUBE_API', status, reason, retryable: false });
  });

  test('a name that is taken is a conflict', async () => {
    const error = await errorOf(plane.client.post('/api/v1/namespaces', { metadata: { name: 'default' } }));
    expect(error).toMatchObject({ status: 409, reason: 'AlreadyExists', retryable: false });
  });

  test('a body that is refused is not quoted', async () => {
    const path = '/api/v1/namespaces/default/secrets';
    const body = { metadata: { name: 'a' }, data: { k: `${MARKER} is no base64` } };
    const error = await errorOf(plane.client.post(path, body));
    expect(error.status).toBe(400);
    expect(everythingIn(error)).not.toContain(MARKER);
  });

  test('an answer that is not JSON is not quoted', async () => {
    const { client, close } = await against((_request, answer) => answer.end(`<html>${MARKER}</html>`));
    const error = await errorOf(client.get('/api/v1/configmaps'));
    expect(error).toMatchObject({ code: 'KUBE_BAD_RESPONSE', reason: 'NotJson' });
    expect(everythingIn(error)).not.toContain(MARKER);
    await close();
  });

  test('an answer of more than 64 MiB is not read to its end', async () => {
    let sent = 0;
    function* mebibytes(): Generator<Buffer> {
      for (; sent < 500; sent += 1) yield Buffer.alloc(1024 * 1024, ' ');
    }
    const { client, close } = await against((_request, answer) => Readable.from(mebibytes()).pipe(answer));
    const error = await errorOf(client.get('/api/v1/secrets'));
    expect(error).toMatchObject({ code: 'KUBE_BAD_RESPONSE', reason: 'TooLarge', retryable: true });
    expect(sent).toBeLessThan(500);
    await close();
  });

  test('an answer of more than a request allows is not read to its end', async () => {
    const { client, close } = await against((_request, answer) => answer.end(`"${'x'.repeat(98)}"`));
    expect((await client.get('/api/v1/pods', { maxBytes: 100 })).status).toBe(200);
    const error = await errorOf(client.get('/api/v1/pods', { maxBytes: 99 }));
    expect(error).toMatchObject({ code: 'KUBE_BAD_RESPONSE', reason: 'TooLarge' });
    await close();
  });

  test('too many requests are retryable after what the server says', async () => {
    const { client, close } = await against((_request, answer) => {
      answer.writeHead(429, { 'retry-after': '3' }).end(MARKER);
    });
    expect(await errorOf(client.get('/x'))).toMatchObject({
      status: 429,
      retryable: true,
      retryAfterMs: 3000,
    });
    await close();
  });
});

describe('when the server is not there', () => {
  test('a connection that is refused or reset is a retryable network error', async () => {
    const { client, proxy } = await plane.throughProxy();
    await client.get('/version');
    proxy.refuse();
    const error = await errorOf(client.get('/version'));
    expect(error).toMatchObject({ code: 'KUBE_NETWORK', status: 0, retryable: true });
    proxy.accept();
    expect((await client.get('/version')).status).toBe(200);
  });

  test('a server that does not answer is a timeout, and so is waiting for a free connection', async () => {
    const { client, close } = await against(() => undefined, { connections: 1 });
    const errors = await Promise.all([1, 2].map(() => errorOf(client.get('/x', { timeoutMs: 200 }))));
    for (const error of errors) expect(error).toMatchObject({ code: 'KUBE_TIMEOUT', retryable: true });
    await close();
  });

  test('an answer that trickles is a timeout', async () => {
    const { client, close } = await against((_request, answer) => {
      const drip = setInterval(() => answer.write(' '), 20);
      answer.on('close', () => clearInterval(drip));
    });
    expect(await errorOf(client.get('/x', { timeoutMs: 200 }))).toMatchObject({ code: 'KUBE_TIMEOUT' });
    await close();
  });

  test('a caller that no longer wants it is answered at once', async () => {
    const { client, close } = await against(() => undefined);
    const abort = new AbortController();
    const call = errorOf(client.get('/x', { signal: abort.signal }));
    abort.abort();
    expect(await call).toMatchObject({ code: 'KUBE_ABORTED', retryable: false });
    expect(await errorOf(client.get('/x', { signal: abort.signal }))).toMatchObject({ code: 'KUBE_ABORTED' });
    await close();
  });
});

describe('a proxy that the kubeconfig names', () => {
  test('is asked for a tunnel, for requests and for streams', async () => {
    const tunnels: (string | undefined)[] = [];
    const sockets = new Set<Duplex>();
    const server = createServer().on('connect', (request, socket) => {
      tunnels.push(request.url);
      const [host, port] = (request.url ?? '').split(':');
      const upstream = connect(Number(port), host);
      for (const end of [socket, upstream]) sockets.add(end.on('error', () => undefined));
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const text = plane.kubeconfig.replace(/( +)server:/, `$1proxy-url: http://127.0.0.1:${port}\n$1server:`);
    const client = plane.connect({ kubeconfig: plane.writeKubeconfig(text) });
    expect((await client.get('/version')).status).toBe(200);
    const abort = new AbortController();
    await client.stream('/api/v1/configmaps', { query: { watch: 1 }, signal: abort.signal });
    expect(tunnels).toEqual([1, 2].map(() => new URL(client.server).host));
    abort.abort();
    await client.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('credentials', () => {
  function kubeconfigWith(user: string): string {
    return plane.writeKubeconfig(plane.kubeconfig.replace(/ {4}token: .*/, user));
  }

  test('a token file that rotates is read again after a refusal', async () => {
    const [, token = ''] = /token: (.*)/.exec(plane.kubeconfig) ?? [];
    const file = join(plane.dir, 'rotating-token');
    writeFileSync(file, 'outdated');
    const provider = `    auth-provider: { name: tokenFile, config: { tokenFile: ${file} } }`;
    const client = plane.connect({ kubeconfig: kubeconfigWith(provider) });
    expect((await errorOf(client.get('/version/none'))).status).toBe(401);
    writeFileSync(file, `${token}\n`);
    await expect
      .poll(() => client.get('/version').then(({ status }) => status, statusOf), { timeout: 5000 })
      .toBe(200);
  });

  test('an exec plugin is run once for many requests', async () => {
    const [, token = ''] = /token: (.*)/.exec(plane.kubeconfig) ?? [];
    const script = join(plane.dir, 'plugin');
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token },
    };
    writeFileSync(script, `#!/bin/sh\necho x >> ${script}.runs\necho '${JSON.stringify(credential)}'\n`);
    chmodSync(script, 0o755);
    const exec = `    exec: { apiVersion: client.authentication.k8s.io/v1, command: ${script}, interactiveMode: Never }`;
    const client = plane.connect({ kubeconfig: kubeconfigWith(exec) });
    await Promise.all([1, 2, 3, 4].map(() => client.get('/version')));
    expect(readFileSync(`${script}.runs`, 'utf8')).toBe('x\n');
  });

  test('an exec plugin that fails is not quoted', async () => {
    const script = join(plane.dir, 'failing-plugin');
    writeFileSync(script, `#!/bin/sh\necho ${MARKER} >&2\nexit 1\n`);
    chmodSync(script, 0o755);
    const exec = `    exec: { apiVersion: client.authentication.k8s.io/v1, command: ${script}, interactiveMode: Never }`;
    const error = await errorOf(plane.connect({ kubeconfig: kubeconfigWith(exec) }).get('/version'));
    expect(error).toMatchObject({ code: 'KUBE_CREDENTIALS', retryable: true });
    expect(everythingIn(error)).not.toContain(MARKER);
  });

  test('a token stands alone, without anything of the user of the kubeconfig', async () => {
    const seen: IncomingHttpHeaders[] = [];
    const { client, close } = await against(
      (request, answer) => {
        seen.push(request.headers);
        answer.end('{}');
      },
      { user: { username: 'ann', password: 'of-the-admin', as: 'bob' } },
    );
    const other = client.as('of-the-caller');
    for (const each of [client, other]) await each.get('/version');
    const credentials = seen.map((headers) => [headers.authorization, headers['impersonate-user']]);
    expect(credentials).toEqual([
      [`Basic ${Buffer.from('ann:of-the-admin').toString('base64')}`, 'bob'],
      ['Bearer of-the-caller', undefined],
    ]);
    await Promise.all([other.close(), close()]);
  });

  test.each([
    ['a file that is not there', () => '/none/kubeconfig', 'FileUnreadable'],
    ['a file that is no YAML', () => plane.writeKubeconfig(`: [${MARKER}`), 'FileIsNoKubeconfig'],
    [
      'a file of another kind',
      () => plane.writeKubeconfig(`root:x:0:0:${MARKER}:/root:/bin/sh`),
      'FileIsNoKubeconfig',
    ],
    ['a manifest', () => plane.writeKubeconfig(`kind: Secret\ndata: {a: ${MARKER}}`), 'FileIsNoKubeconfig'],
    [
      'no current context',
      () => plane.writeKubeconfig('{ clusters: [], users: [], contexts: [] }'),
      'NoCurrentCluster',
    ],
    [
      'plain HTTP',
      () => plane.writeKubeconfig(plane.kubeconfig.replace('https:', 'http:')),
      'PlainHttpNeedsInsecureSkipTlsVerify',
    ],
  ])('%s is refused by the constructor', (_name, kubeconfig, reason) => {
    const make = (): KubeClient => new KubeClient({ kubeconfig: kubeconfig(), userAgent: 'reroll-spec/0' });
    expect(make).toThrow(expect.objectContaining({ code: 'KUBE_CREDENTIALS', reason }));
    expect(make).not.toThrow(MARKER);
  });
});

test('the error about kubeconfigs that are not there names them', () => {
  expect(() => new KubeClient({ kubeconfig: '/none/a:/none/b', userAgent: 'reroll-spec/0' })).toThrow(
    'kubeconfig /none/a, /none/b: the kubeconfig or its credentials cannot be used (KUBE_CREDENTIALS FileUnreadable)',
  );
});

describe('streams', () => {
  test('do not take connections from requests', async () => {
    const client = plane.connect({ connections: 1 });
    const abort = new AbortController();
    const query = { watch: 1 };
    await Promise.all(
      [1, 2, 3].map(() => client.stream('/api/v1/configmaps', { query, signal: abort.signal })),
    );
    expect((await client.get('/version', { timeoutMs: 5000 })).status).toBe(200);
    abort.abort();
  });

  test('a refusal is a KubeError', async () => {
    const { signal } = new AbortController();
    const call = plane.client.stream('/apis/none.example/v1/things', { query: { watch: 1 }, signal });
    expect(await errorOf(call)).toMatchObject({ code: 'KUBE_API', status: 404 });
  });

  test('a server that does not begin to answer is a timeout', async () => {
    const { client, close } = await against(() => undefined);
    const call = client.stream('/x', { signal: new AbortController().signal, timeoutMs: 100 });
    expect(await errorOf(call)).toMatchObject({ code: 'KUBE_TIMEOUT' });
    await close();
  });
});

describe('as the owner of a token', () => {
  test('requests have the rights of the token, and those of the client stay', async () => {
    const namespace = await plane.namespace();
    const path = `/api/v1/namespaces/${namespace}`;
    await plane.client.post(`${path}/serviceaccounts`, { metadata: { name: 'ann' } });
    const { body } = await plane.client.post<{ status: { token: string } }>(
      `${path}/serviceaccounts/ann/token`,
      { spec: { expirationSeconds: 600 } },
    );
    const ann = plane.client.as(body.status.token);
    const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const who = await ann.post<{ status: { userInfo: { username: string } } }>(review, {});
    expect(who.body.status.userInfo.username).toBe(`system:serviceaccount:${namespace}:ann`);
    const patch = ann.patch(path, { metadata: { annotations: { a: 'b' } } }, { contentType: MERGE_PATCH });
    expect(await errorOf(patch)).toMatchObject({ status: 403 });
    await ann.close();
    expect((await plane.client.get(path)).status).toBe(200);
  });

  test('a token that nobody knows is refused, and is in no error', async () => {
    const nobody = plane.client.as(MARKER);
    const error = await errorOf(nobody.get('/api/v1/namespaces'));
    expect(error.status).toBe(401);
    expect(everythingIn(error)).not.toContain(MARKER);
    await nobody.close();
  });
});

function statusOf(error: unknown): number {
  return error instanceof KubeError ? error.status : -1;
}

/** A client of a server that is made to misbehave, for what the real one cannot be brought to. */
async function against(
  listener: RequestListener,
  { user = {}, ...options }: { connections?: number; user?: object } = {},
): Promise<{ client: KubeClient; close: () => Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const kubeconfig = plane.writeKubeconfig(
    JSON.stringify({
      clusters: [
        { name: 'c', cluster: { server: `http://127.0.0.1:${port}/base`, 'insecure-skip-tls-verify': true } },
      ],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  );
  const client = plane.connect({ kubeconfig, ...options });
  const close = async (): Promise<void> => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { client, close };
}
