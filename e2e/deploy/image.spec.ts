import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import { run, type RunResult } from '../../tools/cluster/src/run.ts';
import { type Buildah, ensureBuildah, STAMP } from '../../tools/deploy/images/buildah.ts';
import { inContainer } from '../../tools/deploy/images/container.ts';
import { ROLES, type Role } from '../../tools/deploy/images/dockerfile.ts';
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

/** Packages of libraries that Valkey needs and the base image does not have. */
const ADDED = ['libatomic1', 'libcap2', 'libjemalloc2', 'liblzf1', 'libsystemd0'];

let buildah: Buildah;
let image: MountedImage;

beforeAll(async () => {
  buildah = await ensureBuildah({ log: (line) => console.log(line) });
  image = await buildImage(buildah);
  cleanUp(() => image.close());
});

/** With these arguments, until it ends. */
async function ran(...args: readonly string[]): Promise<RunResult> {
  const launch = inContainer(image, { args, env: {}, serviceAccount: tmpdir() });
  return await run(launch.command, launch.args, { env: launch.env });
}

it('the image says what it is and how it runs, and is small', () => {
  const { config, root, size } = image;
  expect(config.User).toBe('65532:65532');
  expect(config.WorkingDir).toBe('/app');
  expect(config.Entrypoint).toEqual(['node', '/app/main.js']);
  expect(config.Labels).toMatchObject({
    'org.opencontainers.image.title': 'Reroll',
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.version': STAMP.version,
    'org.opencontainers.image.revision': STAMP.revision,
    'org.opencontainers.image.created': STAMP.created,
  });
  const files = readdirSync(join(root, 'app'));
  expect(files.filter((name) => !/^[a-z0-9._-]+-[0-9A-Z]{8}\.js$/.test(name)).sort()).toEqual([
    'LICENSE',
    'licenses.txt',
    'main.js',
    'package.json',
    'public',
  ]);
  console.log(`the image: ${Math.round(size / 1e6)} MB`);
  expect(size).toBeLessThan(160e6);
});

it.each(ROLES)('the role %s has the options of its app', async (role) => {
  const app = role === 'all' ? 'standalone' : role;
  const own = await run(process.execPath, [`apps/${app}/dist/main.js`, '--help']);
  expect(own.stdout).toContain(`Usage: reroll-${app} [flags]`);
  const { code, stdout } = await ran(role, '--help');
  expect({ code, stdout }).toEqual({ code: 0, stdout: own.stdout });
});

it.each([
  ['no role', [], 'given none'],
  ['another role', ['cli', '--help'], 'given "cli"'],
])('%s ends with the code of a wrong setting', async (_, args, given) => {
  const { code, stdout, tail } = await ran(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(tail).toContain(
    `expected watcher, worker, admin, all or make-secrets as the first argument; ${given}`,
  );
});

it('Valkey is in it with the libraries that it needs, their licenses and what scanners read, and no others', async () => {
  const linker = readdirSync(join(image.root, 'lib64')).find((name) => name.startsWith('ld-linux'));
  const launch = inContainer(
    { ...image, config: { ...image.config, Entrypoint: [`/lib64/${linker}`] } },
    { args: ['--list', '/usr/bin/valkey-server'], env: {}, serviceAccount: tmpdir() },
  );
  const { code, stdout } = await run(launch.command, launch.args, { env: launch.env });
  expect({ code, missing: /not found/.test(stdout) }).toEqual({ code: 0, missing: false });
  const needed = [...stdout.matchAll(/^\s*(\S+) => /gm)].map(([, name = '']) => name.split('.')[0]);
  expect(needed).toEqual(expect.arrayContaining(ADDED.map((each) => each.replace(/\d+$/, ''))));
  const packages = [...ADDED, 'valkey-tools'].sort();
  expect(readdirSync(join(image.root, 'var/lib/dpkg/status.d')).sort()).toEqual(packages);
  for (const name of packages) {
    const status = readFileSync(join(image.root, 'var/lib/dpkg/status.d', name), 'utf8');
    expect(status).toMatch(new RegExp(`^Package: ${name}\n`));
    expect(readFileSync(join(image.root, 'usr/share/doc', name, 'copyright'), 'utf8')).toMatch(/licen[cs]e/i);
  }
});

it('a build is given sources and nothing else', async () => {
  const files = await contextFiles(buildah);
  expect(files).toEqual(expect.arrayContaining(['package-lock.json', 'apps/worker/src/main.ts']));
  expect(files.filter((file) => !CONTEXT.test(file) || file.endsWith('.spec.ts'))).toEqual([]);
});

it('watcher, worker and admin run from the image, read-only and as nobody, and reload a workload', async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const reroll = await prepareReroll({ cluster, namespaces: [space] });
  const bare = await podOf(reroll, space, cluster);
  const pod = { ...bare, env: { ...bare.env, ...reroll.redisEnv } };
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

it('the role all runs from the image with a Redis of its own, needs no file but in /tmp, and reloads a workload', async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const reroll = await prepareReroll({ cluster, namespaces: [space] });
  const pod = await podOf(reroll, space, cluster);
  const flags = ['--is-openshift=false', '--adoptions-per-second=1000', '--api-addr=127.0.0.1:0'];
  const app = start('all', { ...pod, writable: '/tmp' }, flags);
  cleanUp(() => app.discard());
  await app.ready(60_000);
  const [redis] = childrenOf(app.pid);
  expect(readlinkSync(`/proc/${redis}/exe`)).toMatch(/\/usr\/bin\/valkey-server$/);

  await space.apply(configMap('cm', { v: '1' }), deployment('api', auto(), usingEnvFrom('cm')));
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  await space.setData('ConfigMap/cm', { v: '2' });
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  expect(await app.stop()).toBe(0);
  expect(existsSync(`/proc/${redis}`)).toBe(false);
});

it.each(ROLES)('the role %s has its compiled code, which the user that it runs as can use', async (role) => {
  const { command, args, env } = inContainer(image, {
    args: [role, '--version'],
    env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    serviceAccount: tmpdir(),
  });
  const lines: string[] = [];
  const { code, tail } = await run(command, args, { env, onLine: (line) => lines.push(line) });
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect({ code, tail }).toEqual({ code: 0, tail });
  expect(lines).toContain(`reroll-${role === 'all' ? 'standalone' : role} ${version}`);
  const accepted = lines.flatMap((line) => /file:\/\/\/app\/(\S+) was accepted/.exec(line)?.[1] ?? []);
  expect(accepted).toContain('main.js');
  expect(accepted).toContainEqual(expect.stringMatching(/^main-/));
});

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').map(Number);
}

interface Pod {
  readonly serviceAccount: string;
  /** For the admin. */
  readonly token: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** Path of a volume in memory. */
  readonly writable?: string;
}

function start(role: Role, pod: Pod, flags: readonly string[]): App {
  const env = { ...pod.env, POD_NAME: `${role}-1` };
  const launch = inContainer(image, { ...pod, env, args: [role, ...pod.args, ...flags] });
  return new App({ name: `${role}-1`, ...launch });
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
    },
    args: ['--metrics-addr=127.0.0.1:0', '--debounce=0', `--namespaces=${space.name}`],
  };
}
