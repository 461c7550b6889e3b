import { expect, it } from 'vitest';
import { apiServer, items, kubeError } from '../testing/stub-cluster.ts';

/** How an installation describes itself. */
function metaInfo(namespace: string): unknown {
  return { metadata: { name: 'info', namespace }, data: { reloaderOptions: '{"autoReloadAll":true}' } };
}

const WEB = '/apis/apps/v1/namespaces/shop/deployments/web';
const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1' },
  spec: { template: { spec: { containers: [] } } },
};

it.each([
  ['any namespace', [], {}, 'the ConfigMap first/info'],
  ['the one of the flag', ['--admin-namespace', 'ops'], {}, 'the ConfigMap ops/info'],
  ['the one of the environment', [], { REROLL_ADMIN_NAMESPACE: 'ops' }, 'the ConfigMap ops/info'],
])('without an admin, settings come from the installation in %s', async (_, flags, env, settings) => {
  const answers = {
    'GET /api/v1/configmaps': items(metaInfo('first'), metaInfo('ops')),
    'GET /api/v1/namespaces/ops/configmaps': items(metaInfo('ops')),
    'GET /api/v1/namespaces/shop': { body: { metadata: { name: 'shop' } } },
    'GET /api/v1/namespaces/first': { body: { metadata: { name: 'first' } } },
    'GET /api/v1/namespaces/ops': { body: { metadata: { name: 'ops' } } },
    [`GET ${WEB}`]: { body: web },
  };
  const { run } = await apiServer(answers, undefined, env);
  const { out, code } = await run('why', 'deploy/web', '--direct', '-o', 'json', ...flags);
  expect([code, (JSON.parse(out) as { settings: string }).settings]).toEqual([0, settings]);
});

it.each([
  [
    'there is no installation',
    items(),
    undefined,
    'no installation was found, so no freeze of everything is considered',
  ],
  [
    'the user may not look for one',
    kubeError(403, 'Forbidden'),
    'The Namespace of the installation was not read, so a freeze of everything is not known.',
    'no installation says how it is set',
  ],
])('without an admin, a freeze of everything: %s', async (_, lists, remark, settings) => {
  const answers = {
    'GET /api/v1/configmaps': lists,
    'GET /api/v1/namespaces/reroll/configmaps': lists,
    'GET /api/v1/namespaces/shop/configmaps': lists,
    'GET /api/v1/namespaces/shop': { body: { metadata: { name: 'shop' } } },
    [`GET ${WEB}`]: { body: web },
  };
  const { run } = await apiServer(answers);
  const { out } = await run('why-not', 'deploy/web', '--source', 'secret/db', '--direct');
  expect(out).toContain(settings);
  expect(out.includes('Forbidden')).toBe(remark !== undefined);
  if (remark !== undefined) expect(out).toContain(remark);
});
