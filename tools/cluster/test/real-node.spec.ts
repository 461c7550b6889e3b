import { existsSync, globSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forwardPort } from '@reroll/kube/client/port-forward';
import { openPool } from '@reroll/kube/client/transport';
import { rerollImage } from '../../deploy/images/archives.ts';
import { ensureBuildah } from '../../deploy/images/buildah.ts';
import { ensureProgram } from '../src/build/build-program.ts';
import { type Cluster, startCluster } from '../src/cluster.ts';
import { kube } from '../src/kube-api.ts';
import { importImages } from '../src/node/images.ts';
import { placeOf } from '../src/node/place.ts';
import { run } from '../src/run.ts';
import { waitUntil } from '../src/wait.ts';

const IMAGE = 'ghcr.io/reroll/reroll:test';
const PODS = '/api/v1/namespaces/default/pods';
const log = (line: string): void => console.error(line);

interface Terminated {
  readonly exitCode: number;
  readonly reason: string;
}

interface Pod {
  readonly status: {
    readonly phase: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly {
      readonly state: { readonly waiting?: { reason: string }; readonly terminated?: Terminated };
    }[];
  };
}

let cluster: Cluster;
let kubectl: string;

beforeAll(async () => {
  kubectl = await ensureProgram('kubectl', { log });
  const image = await rerollImage(await ensureBuildah({ log }), ['test']);
  cluster = await startCluster({
    dir: mkdtempSync(join(tmpdir(), 'reroll-node-')),
    nodes: 0,
    realNodes: 1,
    redis: false,
    log,
  });
  await importImages(cluster, [image]);
});

afterAll(() => cluster?.stop());

/** A pod that runs a program with our image, as restricted as it can be. */
function pod(
  name: string,
  program: string,
  more: { container?: object; spec?: object; labels?: object } = {},
): object {
  const securityContext = {
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const container = {
    name: 'app',
    image: IMAGE,
    command: ['node', '-e', program],
    securityContext,
    ...more.container,
  };
  return {
    metadata: { name, labels: { ...more.labels } },
    spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 1, containers: [container], ...more.spec },
  };
}

async function start(body: object): Promise<void> {
  await kube(cluster.access, { path: PODS, body });
}

/** Resolves when what the status says is so. */
async function until(name: string, holds: (status: Pod['status']) => boolean): Promise<void> {
  let last: unknown;
  try {
    await waitUntil(
      async () => {
        const { status } = (await kube(cluster.access, { path: `${PODS}/${name}` })) as Pod;
        last = status;
        return holds(status);
      },
      { what: `pod ${name}`, timeoutMs: 120_000, everyMs: 200 },
    );
  } catch (error) {
    throw new Error(`${String(error)}\n${JSON.stringify(last)}`, { cause: error });
  }
}

const isReady = ({ conditions = [] }: Pod['status']): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

async function ask(...args: readonly string[]): Promise<string> {
  const { code, stdout, tail } = await run(kubectl, [`--kubeconfig=${cluster.kubeconfig}`, ...args]);
  expect(code, tail).toBe(0);
  return stdout;
}

const SERVER = `require('node:http').createServer((_, answer) => answer.end('hello')).listen(8080);`;

describe('a real node', () => {
  it('runs a server as nobody, read-only, which is ready when its probe says so', async () => {
    const probe = { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 };
    await start(pod('server', SERVER, { labels: { app: 'server' }, container: { readinessProbe: probe } }));
    const spec = { selector: { app: 'server' }, ports: [{ port: 80, targetPort: 8080 }] };
    await kube(cluster.access, {
      path: '/api/v1/namespaces/default/services',
      body: { metadata: { name: 'web' }, spec },
    });
    await until('server', isReady);
  });

  it('has Services by their names, the API server among them, and logs', async () => {
    const program = `
      const token = require('node:fs').readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/token', 'utf8');
      (async () => {
        console.log(await (await fetch('http://web.default.svc.cluster.local')).text());
        const headers = { authorization: 'Bearer ' + token };
        console.log((await (await fetch('https://kubernetes.default.svc/version', { headers })).json()).major);
      })();`;
    const env = [
      { name: 'NODE_EXTRA_CA_CERTS', value: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt' },
    ];
    await start(pod('client', program, { container: { env } }));
    await until('client', ({ phase }) => phase === 'Succeeded' || phase === 'Failed');
    expect(await ask('logs', 'client')).toBe('hello\n1');
  });

  it('runs commands in a container and forwards ports to it', async () => {
    expect(await ask('exec', 'server', '--', 'node', '-p', 'process.getuid()')).toBe('65532');
    const { server, ca, token } = cluster.access;
    const dispatcher = openPool({ origin: server, tls: { ca } }, 0);
    const headers = () => Promise.resolve({ authorization: `Bearer ${token}` });
    const of = { namespace: 'default', pod: 'server', port: 8080 };
    const forward = await forwardPort({ dispatcher, server, headers, ...of });
    try {
      const answer = await fetch(`http://127.0.0.1:${forward.localPort}`);
      expect(await answer.text()).toBe('hello');
    } finally {
      await forward.close();
      await dispatcher.destroy();
    }
  });

  it('ends a container that takes more memory than its limit', async () => {
    const program = `const all = []; setInterval(() => all.push(Buffer.alloc(16e6, 1)), 10);`;
    await start(pod('greedy', program, { container: { resources: { limits: { memory: '128Mi' } } } }));
    await until('greedy', ({ phase }) => phase === 'Failed');
    const { status } = (await kube(cluster.access, { path: `${PODS}/greedy` })) as Pod;
    expect(status.containerStatuses?.[0]?.state.terminated).toMatchObject({
      exitCode: 137,
      reason: 'OOMKilled',
    });
  });

  it('says of an image that cannot be pulled that it cannot', async () => {
    await start(pod('nowhere', '', { container: { image: 'registry.invalid/none:1' } }));
    const reasons = ['ErrImagePull', 'ImagePullBackOff'];
    await until('nowhere', ({ containerStatuses = [] }) =>
      reasons.includes(containerStatuses[0]?.state.waiting?.reason ?? ''),
    );
  });

  it('brings a volume of a ConfigMap up to date', async () => {
    const maps = '/api/v1/namespaces/default/configmaps';
    await kube(cluster.access, { path: maps, body: { metadata: { name: 'map' }, data: { key: 'one' } } });
    const program = `
      const read = () => require('node:fs').readFileSync('/map/key', 'utf8');
      console.log(read());
      setInterval(() => { if (read() === 'two') process.exit(0); }, 100);`;
    const spec = { volumes: [{ name: 'map', configMap: { name: 'map' } }] };
    await start(
      pod('reader', program, { spec, container: { volumeMounts: [{ name: 'map', mountPath: '/map' }] } }),
    );
    await until('reader', ({ phase }) => phase === 'Running');
    const contentType = 'application/merge-patch+json';
    const body = { data: { key: 'two' } };
    await kube(cluster.access, { method: 'PATCH', path: `${maps}/map`, contentType, body });
    await until('reader', ({ phase }) => phase === 'Succeeded');
  });

  it('leaves nothing behind', async () => {
    const { dir, ports } = cluster;
    const { link, cgroup } = placeOf(dir, ports.apiserver ?? 0);
    expect(globSync(`/sys/fs/cgroup/**/${cgroup}`)).not.toEqual([]);
    await cluster.stop();
    expect(existsSync(dir)).toBe(false);
    expect(globSync(`/sys/fs/cgroup/**/${cgroup}`)).toEqual([]);
    expect(readdirSync('/sys/class/net')).not.toContain(link);
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(dir);
  });
});
