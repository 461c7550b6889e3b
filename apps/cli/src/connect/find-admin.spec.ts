import { describe, expect, it } from 'vitest';
import { status } from '../testing/answers.ts';
import { apiServer, items, kubeError } from '../testing/stub-cluster.ts';
import { runCli } from '../testing/run-cli.ts';
import { problem, stubAdmin } from '../testing/stub-admin.ts';

const SERVICES = 'GET /api/v1/namespaces/reroll/services';
const proxyIn = (namespace: string): string =>
  `/api/v1/namespaces/${namespace}/services/http%3Areroll-admin%3Aapi/proxy/api/v1/status`;
const PROXY = proxyIn('reroll');

function service(namespace: string, name = 'reroll-admin'): unknown {
  const ports = [{ name: 'api', port: 80, targetPort: 'api' }];
  return { metadata: { namespace, name }, spec: { selector: { app: 'admin' }, ports } };
}
const FORBIDDEN = kubeError(403, 'Forbidden');

describe('where the admin is', () => {
  it('in the namespace reroll, by its labels; it is asked through the proxy, with the token in a header of its own', async () => {
    const { cli, requests } = await apiServer({
      [SERVICES]: items(service('reroll')),
      [`GET ${PROXY}`]: { body: status() },
    });
    expect(await cli('--send-kubeconfig-token')).toMatchObject({ code: 0, err: '' });
    expect(requests[0]?.query.get('labelSelector')).toBe(
      'app.kubernetes.io/part-of=reroll,app.kubernetes.io/component=admin',
    );
    expect(requests[1]?.headers).toMatchObject({
      authorization: 'Bearer kube-token',
      'reroll-authorization': 'Bearer kube-token',
    });
  });

  it.each([
    [['--admin-namespace', 'ops'], {}],
    [[], { REROLL_ADMIN_NAMESPACE: 'ops' }],
  ])('where it is said to be: %j %j', async (flags, env) => {
    const answers = {
      [SERVICES]: items(service('reroll')),
      'GET /api/v1/namespaces/ops/services': items(service('ops')),
      [`GET ${proxyIn('ops')}`]: { body: status() },
    };
    const { cli, requests } = await apiServer(answers, { token: 'kube-token' }, env);
    expect(await cli(...flags)).toMatchObject({ code: 0, err: '' });
    expect(requests.map(({ path }) => path)).toEqual(['/api/v1/namespaces/ops/services', proxyIn('ops')]);
  });

  it('and for whoever may list nowhere, by its name', async () => {
    const { cli } = await apiServer({
      [SERVICES]: FORBIDDEN,
      'GET /api/v1/namespaces/ops/services': FORBIDDEN,
      [`GET ${PROXY}`]: { body: status() },
      [`GET ${proxyIn('ops')}`]: { body: status() },
    });
    for (const flags of [[], ['--admin-namespace', 'ops']])
      expect(await cli(...flags, '--admin-service', 'reroll-admin')).toMatchObject({ code: 0, err: '' });
    expect((await cli('--admin-namespace', 'ops')).err).toMatch(
      /^error: you may not list services in the namespace ops\n {2}name the Service itself: --admin-service NAME/,
    );
    expect((await cli()).err).toMatch(/^error: you may not list services in the namespace reroll\n/);
  });

  it('is to be chosen if there are several', async () => {
    const { cli } = await apiServer({ [SERVICES]: items(service('reroll'), service('reroll', 'test')) });
    expect((await cli()).err).toContain(
      'error: found more than one admin: reroll/reroll-admin, reroll/test\n',
    );
  });

  it.each([
    ['there is none', items()],
    ['one may not look elsewhere', FORBIDDEN],
  ])('is nowhere: it says in which cluster, also if %s', async (_, elsewhere) => {
    const { cli } = await apiServer({ [SERVICES]: items(), 'GET /api/v1/services': elsewhere });
    expect(await cli()).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: found no admin of Reroll in the namespace reroll of http:\/\/127/),
    });
  });
});

describe('a Service with the labels of the admin in a namespace that nobody named', () => {
  const LOOKED = ['/api/v1/namespaces/reroll/services', '/api/v1/services'];
  const tenant = {
    [SERVICES]: items(),
    'GET /api/v1/services': items(service('tenant')),
    [`GET ${proxyIn('tenant')}`]: { body: status() },
    'GET /api/v1/namespaces/tenant/pods': items(),
  };

  it.each([[[]], [['--via', 'port-forward']], [['--service-account', 'ops/bot']]])(
    'is named and sent nothing, %j',
    async (flags) => {
      const { cli, requests } = await apiServer(tenant);
      expect(await cli(...flags)).toEqual({
        code: 1,
        out: '',
        err: [
          'error: found no admin of Reroll in the namespace reroll, but one elsewhere: tenant/reroll-admin',
          '  nothing was sent to it: anyone can put these labels on a Service and so receive your token',
          '  if it is yours: --admin-namespace tenant, or REROLL_ADMIN_NAMESPACE=tenant',
          '',
        ].join('\n'),
      });
      expect(requests.map(({ path }) => path)).toEqual(LOOKED);
      for (const { headers } of requests) expect(headers['reroll-authorization']).toBeUndefined();
    },
  );

  it('is not asked either if there is one where it is trusted', async () => {
    const { cli, requests } = await apiServer({
      ...tenant,
      [SERVICES]: items(service('reroll')),
      [`GET ${PROXY}`]: { body: status() },
    });
    expect(await cli()).toMatchObject({ code: 0, err: '' });
    expect(requests.map(({ path }) => path)).toEqual([LOOKED[0], PROXY]);
  });

  it.each([
    ['why', 'deploy/web'],
    ['why-not', 'deploy/web', '--source', 'secret/db'],
    ['preview', 'secret/db'],
  ])('is not asked by %s: it reads the cluster, and says so', async (...words) => {
    const { run, requests } = await apiServer(tenant);
    const { err } = await run(...words);
    expect(err.split('\n')[0]).toMatch(
      /^Found no admin of Reroll in the namespace reroll, but one elsewhere: tenant\/reroll-admin; .*: reading the cluster with your own rights\.$/,
    );
    const paths = requests.map(({ path }) => path);
    expect(paths.slice(0, 2)).toEqual(LOOKED);
    expect(paths.length).toBeGreaterThan(2);
    expect(paths.filter((path) => path.includes('tenant'))).toEqual([]);
    for (const { headers } of requests) expect(headers['reroll-authorization']).toBeUndefined();
  });
});

describe('ways to it', () => {
  const found = { [SERVICES]: items(service('reroll')) };

  it('if the proxy leads nowhere a port-forward is tried; if that does not either, both say why', async () => {
    const { cli } = await apiServer({
      ...found,
      [`GET ${PROXY}`]: kubeError(503, 'ServiceUnavailable', 'no endpoints available'),
      'GET /api/v1/namespaces/reroll/pods': items(),
    });
    expect(await cli()).toMatchObject({
      code: 1,
      err: [
        'error: the admin could not be reached',
        "  the API server's proxy to the Service reroll/reroll-admin answered 503: no endpoints available",
        '  no pod of the Service reroll/reroll-admin is ready',
        '',
      ].join('\n'),
    });
    expect((await cli('--via', 'proxy')).err).not.toContain('pod');
  });

  it('a port-forward is refused with a reason to whoever impersonates several groups', async () => {
    const user = { token: 'kube-token', as: 'carol', 'as-groups': ['a', 'b'] };
    const { cli, requests } = await apiServer(found, user, { REROLL_TOKEN: 'own' });
    expect((await cli('--via', 'port-forward')).err).toBe(
      [
        'error: the admin could not be reached',
        '  a port-forward cannot impersonate with several values of impersonate-group, as the user of the kubeconfig does',
        '',
      ].join('\n'),
    );
    expect(requests).toHaveLength(1);
  });

  it('what the admin itself refuses is not tried another way', async () => {
    const { cli, requests } = await apiServer({ ...found, [`GET ${PROXY}`]: problem(403, 'Forbidden') });
    expect(await cli()).toMatchObject({ code: 1, err: expect.stringMatching(/^error: title of Forbidden/) });
    expect(requests).toHaveLength(2);
  });
});

describe('who asks', () => {
  const found = { [SERVICES]: items(service('reroll')), [`GET ${PROXY}`]: { body: status() } };
  const token = (namespace: string, name: string) => ({
    [`POST /api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`]: {
      status: 201,
      body: { status: { token: 'ten-minutes' } },
    },
  });

  it.each<[string, unknown, readonly string[]]>([
    ['without a token', { username: 'a', password: 'b' }, []],
    ['with a token for the API server', { token: 'kube-token' }, []],
    ['with one that is given for the API server', {}, ['--token', 'kube-token']],
  ])('somebody %s sends none to the admin, and is told how to get one', async (_, user, flags) => {
    const { cli, requests } = await apiServer(
      { ...found, [`GET ${PROXY}`]: problem(401, 'Unauthenticated') },
      user,
    );
    expect((await cli(...flags)).err.split('\n')).toEqual([
      'error: title of Unauthenticated',
      '  --service-account NAME asks the API server for a token of ten minutes (REROLL_SERVICE_ACCOUNT)',
      '  or set one, e.g. REROLL_TOKEN="$(kubectl create token NAME --audience=reroll)"',
      '',
    ]);
    expect(requests.at(-1)?.path).toBe(PROXY);
    expect(requests.at(-1)?.headers['reroll-authorization']).toBeUndefined();
  });

  it('whoever has no token in the kubeconfig cannot send it', async () => {
    const { cli } = await apiServer(found, { username: 'a', password: 'b' });
    expect(await cli('--send-kubeconfig-token')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: this user of the kubeconfig has no token that could be sent\n/),
    });
  });

  it.each<[string, readonly string[], Readonly<Record<string, string>>, string]>([
    ['reroll', ['--service-account', 'bot'], {}, 'reroll'],
    ['that of a flag', ['--service-account', 'bot', '--audience', 'other'], {}, 'other'],
    ['that of a variable', [], { REROLL_SERVICE_ACCOUNT: 'shop/bot', REROLL_AUDIENCE: 'other' }, 'other'],
  ])('a token is asked for with the audience %s', async (_, flags, env, audience) => {
    const { cli, requests } = await apiServer({ ...found, ...token('shop', 'bot') }, undefined, env);
    expect(await cli(...flags)).toMatchObject({ code: 0, err: '' });
    const asked = requests.find(({ method }) => method === 'POST');
    expect(JSON.parse(asked?.body ?? '')).toMatchObject({ spec: { audiences: [audience] } });
  });

  it('a token of the environment is for the admin alone', async () => {
    const { cli, requests } = await apiServer(found, undefined, { REROLL_TOKEN: 'own' });
    expect(await cli()).toMatchObject({ code: 0, err: '' });
    expect(requests[0]?.headers).toMatchObject({ authorization: 'Bearer kube-token' });
    expect(requests.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer kube-token',
      'reroll-authorization': 'Bearer own',
    });
  });

  const AS_BOT = ['--as', 'system:serviceaccount:ops:bot'] as const;

  it.each<[readonly string[], Readonly<Record<string, string>>, string]>([
    [AS_BOT, { REROLL_TOKEN: 'own' }, 'ten-minutes'],
    [AS_BOT, { REROLL_SERVICE_ACCOUNT: 'ops/other' }, 'ten-minutes'],
    [['--send-kubeconfig-token'], { REROLL_TOKEN: 'own' }, 'kube-token'],
    [['--send-kubeconfig-token'], { REROLL_SERVICE_ACCOUNT: 'ops/other' }, 'kube-token'],
    [['--send-kubeconfig-token', '--token', 'given'], { REROLL_TOKEN: 'own' }, 'given'],
  ])('%j wins over the environment %j', async (flags, env, sent) => {
    const { cli, requests } = await apiServer({ ...found, ...token('ops', 'bot') }, undefined, env);
    expect(await cli(...flags)).toMatchObject({ code: 0, err: '' });
    expect(requests.at(-1)?.headers['reroll-authorization']).toBe(`Bearer ${sent}`);
  });

  it('with --server, --token and --as exclude each other; --send-kubeconfig-token sends --token', async () => {
    const { url, requests } = await stubAdmin(() => ({ body: status() }));
    const given = ['status', '--server', url, '--token', 'given'];
    const env = { REROLL_TOKEN: 'own' };
    expect(await runCli([...given, ...AS_BOT], { env })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^error: expected --token or --as with --server, given both\n/),
    });
    expect(requests).toEqual([]);
    for (const flags of [[], ['--send-kubeconfig-token']]) {
      expect(await runCli([...given, ...flags], { env })).toMatchObject({ code: 0, err: '' });
      expect(requests.at(-1)?.headers.authorization).toBe('Bearer given');
    }
  });

  it.each([
    ['--service-account', 'bot', 'shop'],
    ['--service-account', 'ops/bot', 'ops'],
    ['--as', 'system:serviceaccount:ops:bot', 'ops'],
  ])('%s %s asks for a token of ten minutes, as oneself', async (flag, value, namespace) => {
    const { cli, requests } = await apiServer({ ...found, ...token(namespace, 'bot') });
    expect(await cli(flag, value)).toMatchObject({ code: 0, err: '' });
    const asked = requests.find(({ method }) => method === 'POST');
    expect(JSON.parse(asked?.body ?? '')).toMatchObject({
      kind: 'TokenRequest',
      spec: { expirationSeconds: 600 },
    });
    expect(asked?.headers['impersonate-user']).toBeUndefined();
    expect(requests.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer kube-token',
      'reroll-authorization': 'Bearer ten-minutes',
      ...(flag === '--as' ? { 'impersonate-user': value } : {}),
    });
  });

  it('as somebody else the admin cannot be asked, and a service account has a form', async () => {
    const { cli } = await apiServer(found);
    expect((await cli('--as', 'carol')).err).toMatch(
      /^error: the admin cannot be asked in the name of another user/,
    );
    expect(await cli('--service-account', 'a/b/c')).toMatchObject({ code: 2 });
  });

  it('a service account that does not exist, or whose tokens one may not request, is named', async () => {
    const { cli } = await apiServer({
      ...found,
      'POST /api/v1/namespaces/shop/serviceaccounts/ci/token': kubeError(403, 'Forbidden', 'no'),
    });
    expect(await cli('--service-account', 'nobody')).toMatchObject({
      code: 1,
      err: 'error: there is no service account shop/nobody\n',
    });
    expect(await cli('--service-account', 'ci')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^error: you may not request tokens for the service account shop\/ci\n.*serviceaccounts\/token/s,
      ),
    });
  });
});
