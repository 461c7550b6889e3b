import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import { run } from '../../tools/cluster/src/run.ts';
import { type Buildah, ensureBuildah, STAMP } from '../../tools/deploy/images/buildah.ts';
import { inContainer } from '../../tools/deploy/images/container.ts';
import { APPS, type App as AppName } from '../../tools/deploy/images/dockerfile.ts';
import { buildImage, contextFiles, type MountedImage } from '../../tools/deploy/images/image.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { App } from '../support/processes.ts';
import { prepareReroll, type Reroll } from '../support/reroll.ts';
import { inStep, markerVariables } from '../support/objects/rollouts.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';

/** Nothing else is read by a build, and so nothing else can get into a layer. */
const CONTEXT =
  /^(LICENSE|package(-lock)?\.json|nx\.json|tsconfig\.base\.json|(apps|libs)\/\w+\/((package|tsconfig)\.json|README\.md|(src|public)\/.+\.(tsx?|js|css|html|svg))|tools\/build\/[\w-]+\.ts)$/;

let buildah: Buildah;
let images: Record<AppName, MountedImage>;

beforeAll(async () => {
  buildah = await ensureBuildah({ log: (line) => console.log(line) });
  const build = async (app: AppName): Promise<MountedImage> => {
    const image = await buildImage(buildah, app);
    cleanUp(() => image.close());
    return image;
  };
  images = { watcher: await build('watcher'), worker: await build('worker'), admin: await build('admin') };
});

it.each(APPS)('the image of the %s says what it is and how it runs, and is small', (app) => {
  const { config, root, size } = images[app];
  expect(config.User).toBe('65532:65532');
  expect(config.WorkingDir).toBe('/app');
  expect(config.Entrypoint).toEqual(['node', '/app/main.js']);
  expect(config.Labels).toMatchObject({
    'org.opencontainers.image.title': `Reroll ${app}`,
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.version': STAMP.version,
    'org.opencontainers.image.revision': STAMP.revision,
    'org.opencontainers.image.created': STAMP.created,
  });
  expect(readdirSync(join(root, 'app')).sort()).toEqual([
    'LICENSE',
    'licenses.txt',
    'main.js',
    'package.json',
    ...(app === 'admin' ? ['public'] : []),
  ]);
  console.log(`the image of the ${app}: ${Math.round(size / 1e6)} MB`);
  expect(size).toBeLessThan(150e6);
});

it('a build is given sources and nothing else', async () => {
  const files = await contextFiles(buildah);
  expect(files).toEqual(expect.arrayContaining(['package-lock.json', 'apps/worker/src/main.ts']));
  expect(files.filter((file) => !CONTEXT.test(file) || file.endsWith('.spec.ts'))).toEqual([]);
});

it('watcher, worker and admin run from their images, read-only and as nobody, and reload a workload', async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const reroll = await prepareReroll({ cluster, namespaces: [space] });
  const pod = await podOf(reroll, space, cluster);
  reroll.watchers.push(start('watcher', pod, ['--is-openshift=false', '--adoptions-per-second=1000']));
  reroll.workers.push(start('worker', pod, []));
  reroll.admins.push(
    start('admin', { ...pod, args: ['--metrics-addr=127.0.0.1:0', '--api-addr=127.0.0.1:0'] }, []),
  );
  await reroll.ready();
  for (const { pid } of reroll.apps) {
    expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m);
    expect(readFileSync(`/proc/${pid}/mountinfo`, 'utf8')).toMatch(/ \/ ro[, ]/);
  }

  await space.apply(configMap('cm', { v: '1' }), deployment('api', auto(), usingEnvFrom('cm')));
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  await space.setData('ConfigMap/cm', { v: '2' });
  const rolled = await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  expect(Object.keys(markerVariables(rolled)['app'] ?? {})).toEqual(['STAKATER_CM_CONFIGMAP']);
  const [admin] = reroll.admins;
  const api = await admin?.apiUrl();
  const documents = await fetch(`${api}/api/openapi.json`);
  expect(documents.status).toBe(200);
  expect(((await documents.json()) as { openapi: string }).openapi).toMatch(/^3\.1/);
  const { token } = pod;
  const [nobody, somebody] = await Promise.all(
    [{}, { headers: { authorization: `Bearer ${token}` } }].map((init) =>
      fetch(`${api}/api/v1/queues`, init),
    ),
  );
  expect([nobody?.status, somebody?.status]).toEqual([401, 200]);
  for (const app of reroll.apps) expect(await app.stop()).toBe(0);
});

it.each(APPS)(
  'the image of the %s has its compiled code, which the user that it runs as can use',
  async (app) => {
    const { command, args, env } = inContainer(images[app], {
      args: ['--version'],
      env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
      serviceAccount: tmpdir(),
    });
    const { code, tail } = await run(command, args, { env });
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect({ code, tail }).toEqual({ code: 0, tail });
    expect(tail).toContain(`reroll-${app} ${version}`);
    expect(tail).toContain('file:///app/main.js was accepted');
  },
);

interface Pod {
  readonly serviceAccount: string;
  /** For the admin. */
  readonly token: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

function start(app: AppName, pod: Pod, flags: readonly string[]): App {
  const env = { ...pod.env, POD_NAME: `${app}-1` };
  const launch = inContainer(images[app], { ...pod, env, args: [...pod.args, ...flags] });
  return new App({ name: `${app}-1`, ...launch });
}

/** What a pod finds: the API server by its variables, and the token of a service account. */
async function podOf(reroll: Reroll, space: Space, cluster: Cluster): Promise<Pod> {
  const { client } = space;
  const { install } = reroll;
  const accounts = `/api/v1/namespaces/${install}/serviceaccounts`;
  await client.post(accounts, { metadata: { name: 'reroll' } });
  await client.post(RBAC, {
    metadata: { name: install },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', namespace: install, name: 'reroll' }],
  });
  cleanUp(() => client.request({ method: 'DELETE', path: `${RBAC}/${install}` }));
  const tokenFor = async (audience: string): Promise<string> => {
    const { body } = await client.post<{ status: { token: string } }>(`${accounts}/reroll/token`, {
      spec: { audiences: [audience] },
    });
    return body.status.token;
  };

  const serviceAccount = mkdtempSync(join(tmpdir(), 'reroll-token-'));
  cleanUp(() => rmSync(serviceAccount, { recursive: true, force: true }));
  const kubeconfig = readFileSync(cluster.kubeconfig, 'utf8');
  const authority = /certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1] ?? '';
  const server = new URL(/server: (\S+)/.exec(kubeconfig)?.[1] ?? '');
  writeFileSync(join(serviceAccount, 'token'), await tokenFor('https://kubernetes.default.svc'));
  writeFileSync(join(serviceAccount, 'ca.crt'), Buffer.from(authority, 'base64'));
  writeFileSync(join(serviceAccount, 'namespace'), install);
  await run('chmod', ['0755', serviceAccount]);
  return {
    serviceAccount,
    token: await tokenFor('reroll'),
    env: {
      KUBERNETES_SERVICE_HOST: server.hostname,
      KUBERNETES_SERVICE_PORT: server.port,
      POD_NAMESPACE: install,
      ...reroll.redisEnv,
    },
    args: ['--metrics-addr=127.0.0.1:0', '--debounce=0', `--namespaces=${space.name}`],
  };
}
