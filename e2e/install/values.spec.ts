import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHART } from '../../tools/deploy/values/values-comments.ts';
import { hashKey } from '@reroll/core/record/record-hash';
import { auto, configMap, deployment, secret, usingEnvFrom } from '../support/objects/builders.ts';
import { writeCertificates } from '../support/admin/certificates.ts';
import { cleanUp } from '../support/cleanup.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { RolloutCount, inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';
import { askAdmin } from './support/admin.ts';
import { installCrds } from './support/crds.ts';
import { chartImage } from '../../tools/deploy/images/chart-image.ts';
import { everything } from './support/leftovers.ts';
import { Release, SMALL, installCluster, type Values } from './support/release.ts';

/** Groups of optional values that go together, each in a release for a namespace of its own; all at the same time. */
type Group = 'operators' | 'autoscalers' | 'environment' | 'redis' | 'redisUrl' | 'webhook';

const STORE_USER = 'someone';
const STORE_PASSWORD = 'pass-5c1e';
const ADMIN_TOKEN = 'token-of-ann';
const HASH_KEY = 'k'.repeat(48);
const WITHIN = { within: 90_000 };

const OPERATORS: Values = {
  reloader: {
    serviceMonitor: { enabled: true, interval: '30s' },
    netpol: { enabled: true },
    enableMetricsByNamespace: true,
  },
  prometheusRule: { enabled: true },
  grafanaDashboard: { enabled: true },
  redis: { persistence: { enabled: true, whenDeleted: 'Retain' } },
  networkPolicy: { enabled: true, apiServer: { cidrs: ['10.0.0.0/8'] } },
  admin: {
    rbac: { clusterWide: true },
    ingress: { enabled: true, hosts: ['reroll.example'] },
    httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }] },
  },
  worker: { replicas: 1, autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 3 } },
};

const AUTOSCALERS: Values = {
  reloader: { verticalPodAutoscaler: { enabled: true }, podMonitor: { enabled: true } },
  worker: { keda: { enabled: true } },
  // Valkey starts as redis-server too.
  redis: {
    image: { repository: 'valkey/valkey', tag: '8.1' },
    persistence: { enabled: false },
    auth: { existingSecret: 'own', existingSecretKey: 'password' },
  },
};

const ENVIRONMENT: Values = {
  reloader: {
    metricsPort: 9191,
    enablePProf: true,
    reloadStrategy: 'annotations',
    hashKey: { existingSecret: 'own', existingSecretKey: 'hash' },
    serviceAccount: { name: 'robot' },
    metaInfo: { enabled: false },
    deployment: {
      readinessProbe: { periodSeconds: 1 },
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      labels: { team: 'shop' },
      pod: { annotations: { note: 'x' } },
      env: {
        open: { REROLL_LOG_LEVEL_OF_NOBODY: 'x' },
        secret: { NOT_SHOWN: 'secret' },
        field: { MY_NODE: 'spec.nodeName' },
        existing: { own: { FROM_OWN: 'password' } },
      },
    },
  },
  admin: {
    auth: 'static',
    port: 8181,
    staticTokens: { existingSecret: 'own', existingSecretKey: 'tokens' },
  },
  redis: { tls: { enabled: true } },
  watcher: { replicas: 1, extraArgs: ['--sweep-interval=5s'] },
  worker: { replicas: 1, extraEnv: [{ name: 'REROLL_CONCURRENCY', value: '3' }] },
};

const REDIS: Values = {
  reloader: { clusterName: 'shop' },
  redis: {
    enabled: false,
    external: {
      host: 'store',
      port: 6380,
      database: 2,
      existingSecret: 'own',
      existingSecretKeys: { username: 'user', password: 'password' },
      tls: { enabled: true, caSecret: 'store-tls', certSecret: 'store-tls' },
    },
  },
};

const REDIS_URL: Values = {
  reloader: {
    clusterName: 'shop',
    alerts: { onReload: true, sink: 'webhook', webhookUrl: 'http://receiver:8080/alerts' },
  },
  redis: { enabled: false, external: { existingSecret: 'own', existingSecretKeys: { url: 'url' } } },
};

/** Nothing is reloaded. */
const WEBHOOK: Values = { reloader: { webhookUrl: 'http://receiver:8080/changes' } };

const VALUES: Readonly<Record<Group, Values>> = {
  operators: OPERATORS,
  autoscalers: AUTOSCALERS,
  environment: ENVIRONMENT,
  redis: REDIS,
  redisUrl: REDIS_URL,
  webhook: WEBHOOK,
};
const RELOADING = (Object.keys(VALUES) as Group[]).filter((group) => group !== 'webhook');

const releases = new Map<string, { release: Release; apps: Space }>();

function of(group: Group): { release: Release; apps: Space } {
  const found = releases.get(group);
  if (!found) throw new Error(`expected ${group} to be installed`);
  return found;
}

beforeAll(async () => {
  const client = connect(installCluster());
  await installCrds(client, {
    ServiceMonitor: 'monitoring.coreos.com/v1',
    PodMonitor: 'monitoring.coreos.com/v1',
    PrometheusRule: 'monitoring.coreos.com/v1',
    ScaledObject: 'keda.sh/v1alpha1',
    TriggerAuthentication: 'keda.sh/v1alpha1',
    VerticalPodAutoscaler: 'autoscaling.k8s.io/v1',
    HTTPRoute: 'gateway.networking.k8s.io/v1',
  });
  const names = Object.keys(VALUES) as Group[];
  for (const name of names) {
    releases.set(name, {
      release: await Release.prepare(name.toLowerCase()),
      apps: await namespace(client, 'apps'),
    });
  }
  await Promise.all(names.map(install));
});

async function install(group: Group): Promise<void> {
  const { release, apps } = of(group);
  const values = { password: STORE_PASSWORD, user: STORE_USER, hash: HASH_KEY };
  const url = `redis://:${STORE_PASSWORD}@store:6379/1`;
  const sha256 = createHash('sha256').update(ADMIN_TOKEN).digest('hex');
  const tokens = JSON.stringify([{ name: 'ann', sha256, access: 'read', namespaces: ['*'] }]);
  await release.space.apply(secret('own', { ...values, url, tokens }));
  if (group === 'redis') await startTlsStore(release);
  if (group === 'redisUrl') await startStore(release, [], ['--requirepass', STORE_PASSWORD]);
  if (group === 'redisUrl' || group === 'webhook') await startReceiver(release);
  // What is there at the start is not posted.
  if (group === 'webhook')
    await apps.apply(configMap('settings', { v: '1' }), deployment('api', auto(), usingEnvFrom('settings')));
  const scope = { reloader: { watchGlobally: false, namespaces: [apps.name] } };
  await release.install(SMALL, VALUES[group], scope);
}

/** A Redis of somebody else's, in the release's namespace for want of another. */
async function startStore(
  release: Release,
  volumes: readonly string[],
  args: readonly string[],
): Promise<void> {
  const { space, client } = release;
  const ports = [6379, 6380].map((port) => ({ name: `p${port}`, port }));
  const service = { metadata: { name: 'store' }, spec: { selector: { store: 'yes' }, ports } };
  await client.post(`/api/v1/namespaces/${space.name}/services`, service);
  const container = {
    name: 'redis',
    image: 'redis:7',
    args: ['--save', '', '--maxmemory-policy', 'noeviction', ...args],
    volumeMounts: volumes.map((name) => ({ name, mountPath: `/${name}` })),
  };
  const pod = {
    metadata: { name: 'store', labels: { store: 'yes' } },
    spec: {
      containers: [container],
      volumes: volumes.map((name) => ({ name, secret: { secretName: name } })),
    },
  };
  await client.post(`/api/v1/namespaces/${space.name}/pods`, pod);
}

/** Writes what is posted to it into its log, a line a request. */
async function startReceiver({ space, client }: Release): Promise<void> {
  const program = `require('node:http').createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => { console.log(request.url, body); response.end(); });
  }).listen(8080);`;
  const labels = { receiver: 'yes' };
  const service = { metadata: { name: 'receiver' }, spec: { selector: labels, ports: [{ port: 8080 }] } };
  await client.post(`/api/v1/namespaces/${space.name}/services`, service);
  const container = { name: 'receiver', image: chartImage('reroll'), command: ['node', '-e', program] };
  await client.post(`/api/v1/namespaces/${space.name}/pods`, {
    metadata: { name: 'receiver', labels },
    spec: { terminationGracePeriodSeconds: 1, containers: [container] },
  });
}

/** With client certificates, for a user of its own; the default user may do nothing. */
async function startTlsStore(release: Release): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-store-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  writeCertificates(folder, 'store');
  const files = ['ca.crt', 'tls.crt', 'tls.key'];
  const read = files.map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);
  await release.space.apply(secret('store-tls', Object.fromEntries(read)));
  const at = (name: string): string => `/store-tls/${name}`;
  const tls = ['--port', '0', '--tls-port', '6380', '--tls-ca-cert-file', at('ca.crt')];
  const own = ['--tls-cert-file', at('tls.crt'), '--tls-key-file', at('tls.key')];
  const rules = ['on', `>${STORE_PASSWORD}`, '~*', '&*', '+@all'];
  const users = ['--user', 'default', 'off', '--user', STORE_USER, ...rules];
  await startStore(release, ['store-tls'], [...tls, ...own, ...users]);
}

describe.each(RELOADING)('an install with %s', (group) => {
  it('reloads a workload once when its ConfigMap changes', async () => {
    const { apps } = of(group);
    await apps.apply(configMap('settings', { v: '1' }), deployment('api', auto(), usingEnvFrom('settings')));
    const count = await RolloutCount.from(apps, 'Deployment/api');
    await apps.setData('ConfigMap/settings', { v: '2' });
    await eventually(async () => (await count.now()) === 1, { ...WITHIN, what: 'one rollout' });
  });
});

describe('what is told', () => {
  it('alerts of reloads reach their receiver', async () => {
    const { release, apps } = of('redisUrl');
    const told = (): boolean =>
      release
        .logs('receiver')
        .split('\n')
        .some((line) => line.startsWith('/alerts') && line.includes(apps.name));
    await eventually(() => told(), { ...WITHIN, what: 'an alert' });
  });

  it('with a webhook, a change is posted and nothing is reloaded', async () => {
    const { release, apps } = of('webhook');
    const count = await RolloutCount.from(apps, 'Deployment/api');
    await apps.setData('ConfigMap/settings', { v: '2' });
    const posted = `/changes {"event":"update","kind":"ConfigMap","namespace":"${apps.name}","name":"settings"}`;
    await eventually(() => release.logs('receiver').includes(posted), { ...WITHIN, what: 'the change' });
    expect(await count.now()).toBe(0);
  });
});

describe('objects for others to act on', () => {
  it.each([
    ['operators', '/apis/monitoring.coreos.com/v1', 'servicemonitors/reroll'],
    ['autoscalers', '/apis/monitoring.coreos.com/v1', 'podmonitors/reroll'],
    ['operators', '/apis/monitoring.coreos.com/v1', 'prometheusrules/reroll'],
    ['operators', '/apis/autoscaling/v2', 'horizontalpodautoscalers/reroll-worker'],
    ['operators', '/apis/networking.k8s.io/v1', 'networkpolicies/reroll-watcher'],
    ['operators', '/apis/networking.k8s.io/v1', 'networkpolicies/reroll-worker'],
    ['operators', '/apis/networking.k8s.io/v1', 'networkpolicies/reroll-redis'],
    ['operators', '/apis/networking.k8s.io/v1', 'networkpolicies/reroll-admin'],
    ['operators', '/apis/networking.k8s.io/v1', 'ingresses/reroll-admin'],
    ['operators', '/apis/gateway.networking.k8s.io/v1', 'httproutes/reroll-admin'],
    ['operators', '/api/v1', 'configmaps/reroll-dashboard'],
    ['autoscalers', '/apis/keda.sh/v1alpha1', 'scaledobjects/reroll-worker'],
    ['autoscalers', '/apis/keda.sh/v1alpha1', 'triggerauthentications/reroll-worker'],
    ['autoscalers', '/apis/autoscaling.k8s.io/v1', 'verticalpodautoscalers/reroll-watcher'],
    ['autoscalers', '/apis/autoscaling.k8s.io/v1', 'verticalpodautoscalers/reroll-worker'],
  ] as const)('%s: the API server takes %s %s', async (group, root, path) => {
    const { release } = of(group);
    const { body } = await release.client.get(`${root}/namespaces/${release.space.name}/${path}`);
    expect(body).toMatchObject({ metadata: { labels: { 'app.kubernetes.io/instance': 'reroll' } } });
  });

  it('a HorizontalPodAutoscaler has the number of workers', async () => {
    await of('operators').release.ready('worker', 2);
  });
});

describe('settings reach the processes', () => {
  it('the port of the metrics, further flags and variables', async () => {
    const { release } = of('environment');
    const [watcher] = await release.ready('watcher', 1);
    const [worker] = await release.ready('worker', 1);
    expect(release.logs(watcher?.metadata.name)).toMatch(/serving metrics and health" address="?:9191/);
    expect(release.logs(worker?.metadata.name)).toContain('concurrency=3');
    expect(watcher?.spec.serviceAccountName).toBe('robot');
    expect(watcher?.metadata).toMatchObject({ labels: { team: 'shop' }, annotations: { note: 'x' } });
  });

  it('tokens of your own for admin, on a port of its own', async () => {
    const { release } = of('environment');
    const status = async (token: string): Promise<number> =>
      (await askAdmin(release, '/api/v1/queues', { token, port: 8181 })).status;
    expect([await status(ADMIN_TOKEN), await status('another')]).toEqual([200, 401]);
  });

  it('a key of your own for the hashes that are recorded', async () => {
    const { apps } = of('environment');
    const keys = [hashKey(Buffer.from(HASH_KEY))];
    await inStep(apps, 'Deployment/api', ['ConfigMap/settings'], { keys });
  });
});

describe('helm upgrade', () => {
  it.each(['storageClass=fast', 'enabled=true'])(
    'says how a Redis without a volume gets one: %s',
    async (value) => {
      const { release } = of('autoscalers');
      const set = ['--reuse-values', '--set', `redis.persistence.${value}`];
      await expect(release.helm('upgrade', release.name, CHART, ...set)).rejects.toThrow(
        `delete the StatefulSet (kubectl -n ${release.space.name} delete statefulset reroll-redis)`,
      );
    },
  );
});

describe('helm uninstall', () => {
  it('keeps the volume of Redis if it is told to, and the Secrets that were made', async () => {
    const { release } = of('operators');
    await release.uninstall();
    const names = await everything(release.client, release.space.name);
    const left = names.filter((name) => name.includes('reroll-'));
    const secrets = ['secrets/reroll-hash-keys', 'secrets/reroll-redis'];
    expect(left).toEqual(['persistentvolumeclaims/data-reroll-redis-0', ...secrets]);
  });
});
