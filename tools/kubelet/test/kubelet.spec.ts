import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp } from '../../../e2e/support/cleanup.ts';
import { connect } from '../../../e2e/support/kube.ts';
import { eventually } from '../../../e2e/support/wait.ts';
import { KubeError } from '@reroll/kube/client/errors';
import type { KubeClient } from '@reroll/kube/client/connection';
import { type Cluster, startCluster } from '../../cluster/src/cluster.ts';
import { finished, succeed } from '../src/pods/exec.ts';
import { forward } from '../src/dial.ts';
import { Kubelet } from '../src/kubelet.ts';
import { ADMISSION_ARGS, NAMESPACE_ANNOTATIONS } from '../src/node.ts';
import { podLogs } from '../src/pods/pod-logs.ts';
import { removeDeadRuns } from '../src/sweep.ts';
import type { Container, Pod, PodSpec } from '../src/types.ts';
import { testImages } from './images.ts';

const HARDENED = {
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
};
const SPACE = '/api/v1/namespaces/pods';

let cluster: Cluster;
let client: KubeClient;
let kubelet: Kubelet;

beforeAll(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'reroll-kubelet-spec-'));
  cluster = await startCluster({
    dir,
    redis: false,
    nodes: 1,
    serviceAccountAdmission: true,
    apiServerArgs: ADMISSION_ARGS,
    log: () => undefined,
  });
  cleanUp(() => cluster.stop());
  client = connect(cluster);
  kubelet = await Kubelet.start({
    kubeconfig: cluster.kubeconfig,
    images: testImages,
    backoffMs: 50,
    refreshMs: 200,
  });
  cleanUp(() => kubelet.stop());
  await client.post('/api/v1/namespaces', { metadata: { name: 'pods', annotations: NAMESPACE_ANNOTATIONS } });
  // Its controllers make the account and the certificate that every pod mounts.
  for (const path of ['serviceaccounts/default', 'configmaps/kube-root-ca.crt']) {
    await eventually(() => client.get(`${SPACE}/${path}`), { what: path });
  }
});

/** Runs a pod with one container, `app`, of image `shell`, and this script. */
async function run(
  name: string,
  script: string,
  more: { container?: Partial<Container>; spec?: Partial<PodSpec>; labels?: Record<string, string> } = {},
): Promise<void> {
  const container = { name: 'app', image: 'shell', args: [script], ...more.container };
  const spec = { terminationGracePeriodSeconds: 5, containers: [container], ...more.spec };
  await client.post(`${SPACE}/pods`, { metadata: { name, labels: more.labels }, spec });
}

/** Runs it to its end and gives what it wrote. */
async function output(name: string, script: string, more: Parameters<typeof run>[2] = {}): Promise<string> {
  await run(name, script, { ...more, spec: { restartPolicy: 'Never', ...more.spec } });
  await phase(name, 'Succeeded');
  return logOf(name);
}

async function pod(name: string): Promise<Pod> {
  return (await client.get<Pod>(`${SPACE}/pods/${name}`)).body;
}

function logOf(name: string, container = 'app'): string {
  return podLogs(kubelet.folder, 'pods').get(`${name}/${container}`) ?? '';
}

async function phase(name: string, expected: string): Promise<Pod> {
  return await eventually(
    async () => {
      const found = await pod(name);
      expect(found.status?.phase, JSON.stringify(found.status)).toBe(expected);
      return found;
    },
    { within: 60_000 },
  );
}

async function ready(name: string, expected: 'True' | 'False' = 'True'): Promise<Pod> {
  return await eventually(
    async () => {
      const found = await pod(name);
      const condition = found.status?.conditions?.find(({ type }) => type === 'Ready');
      expect(condition?.status, JSON.stringify(found.status)).toBe(expected);
      return found;
    },
    { within: 60_000 },
  );
}

async function remove(name: string): Promise<void> {
  await client.request({ method: 'DELETE', path: `${SPACE}/pods/${name}` });
  await eventually(() => isGone(`${SPACE}/pods/${name}`), { what: `pod ${name} to be gone`, within: 60_000 });
}

async function isGone(path: string): Promise<boolean> {
  try {
    await client.get(path);
    return false;
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return true;
    throw error;
  }
}

describe('a container', () => {
  it('is process 1 of its own, with its arguments, variables, host name and working folder', async () => {
    const env = [{ name: 'ONE', value: '1' }];
    const text = await output('place', 'echo pid $$$$ $ONE $FROM_IMAGE $(hostname) $PWD', {
      container: { env },
    });
    expect(text).toBe('pid 1 1 yes place /work\n');
  });

  it('with a command of its own has nothing of the entrypoint of the image', async () => {
    const container = { command: ['echo'], args: ['$(ONE)', 'b'], env: [{ name: 'ONE', value: 'a' }] };
    expect(await output('command', '', { container })).toBe('a b\n');
  });

  it('that is hardened has another user, no capability, no way to more, and a root that it cannot write', async () => {
    const script =
      'id -u; id -g; grep -E "Cap(Eff|Bnd)|NoNewPrivs" /proc/self/status; touch /tmp/x /work/x /x; true';
    const container = { image: 'plain', securityContext: HARDENED };
    const text = await output('hardened', script, { container });
    expect(text.split('\n').slice(0, 5)).toEqual([
      '1000',
      '1000',
      'CapEff:\t0000000000000000',
      'CapBnd:\t0000000000000000',
      'NoNewPrivs:\t1',
    ]);
    expect(text.match(/Read-only file system/g)).toHaveLength(3);
  });

  it('that must not be root and is waits with the reason', async () => {
    await run('root', 'true', { container: { securityContext: { runAsNonRoot: true } } });
    await waits('root', 'CreateContainerConfigError', 'image will run as root');
  });

  it('of an image that there is not waits with the reason', async () => {
    await run('unknown', 'true', { container: { image: 'ghcr.io/nobody/nothing:1' } });
    await waits('unknown', 'ErrImagePull', 'given ghcr.io/nobody/nothing:1');
  });

  it('waits for a Secret that it needs, and starts when that is there', async () => {
    const env = [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'late', key: 'key' } } }];
    await run('waiting', 'echo $KEY', { container: { env }, spec: { restartPolicy: 'Never' } });
    await waits('waiting', 'CreateContainerConfigError', 'key key of Secret late not found');
    await client.post(`${SPACE}/secrets`, { metadata: { name: 'late' }, stringData: { key: 'here' } });
    await phase('waiting', 'Succeeded');
    expect(logOf('waiting')).toBe('here\n');
  });

  it('that fails is started again and again, under OnFailure until it succeeds', async () => {
    const script =
      'test -e /kept/third && exit 0; test -e /kept/second && touch /kept/third; touch /kept/second; exit 3';
    const container = { volumeMounts: [{ name: 'kept', mountPath: '/kept' }] };
    const spec = { restartPolicy: 'OnFailure' as const, volumes: [{ name: 'kept', emptyDir: {} }] };
    await run('again', script, {
      container,
      spec: { ...spec, containers: [{ name: 'app', image: 'shell', args: [script], ...container }] },
    });
    const { status } = await phase('again', 'Succeeded');
    expect(status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 2,
      lastState: { terminated: { exitCode: 3, reason: 'Error' } },
    });
  });

  it('that fails under Never leaves a pod that failed', async () => {
    await run('failed', 'exit 4', { spec: { restartPolicy: 'Never' } });
    const { status } = await phase('failed', 'Failed');
    expect(status?.containerStatuses?.[0]?.state.terminated?.exitCode).toBe(4);
  });

  it('starts after the init containers, in order, and sees what they left', async () => {
    const init = (name: string): Container => ({
      name,
      image: 'shell',
      args: [`echo ${name} >> /shared/log`],
      volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
    });
    const app = { ...init('app'), args: ['cat /shared/log'] };
    const spec = {
      initContainers: [init('one'), init('two')],
      containers: [app],
      volumes: [{ name: 'shared', emptyDir: {} }],
    };
    expect(await output('inits', '', { spec })).toBe('one\ntwo\n');
  });
});

async function waits(name: string, reason: string, message: string): Promise<void> {
  await eventually(async () => {
    const waiting = (await pod(name)).status?.containerStatuses?.[0]?.state.waiting;
    expect(waiting?.reason).toBe(reason);
    expect(waiting?.message).toContain(message);
    return true;
  });
}

describe('volumes', () => {
  it('of ConfigMaps and Secrets hold their keys with their modes, and cannot be written', async () => {
    await client.post(`${SPACE}/configmaps`, { metadata: { name: 'files' }, data: { a: 'A', b: 'B' } });
    await client.post(`${SPACE}/secrets`, { metadata: { name: 'secret' }, stringData: { key: 'S' } });
    const volumes = [
      { name: 'map', configMap: { name: 'files', items: [{ key: 'b', path: 'sub/b' }] } },
      { name: 'secret', secret: { secretName: 'secret', defaultMode: 0o400 } },
      {
        name: 'both',
        projected: { sources: [{ configMap: { name: 'files' } }, { secret: { name: 'secret' } }] },
      },
    ];
    const volumeMounts = [
      { name: 'map', mountPath: '/map' },
      { name: 'secret', mountPath: '/secret' },
      { name: 'both', mountPath: '/deep/er/both' },
      { name: 'both', mountPath: '/one/file', subPath: 'a' },
    ];
    const script =
      'cat /map/sub/b /secret/key /deep/er/both/* /one/file; stat -c " %a" /secret/key; touch /map/x 2>&1; true';
    const container = { name: 'app', image: 'shell', args: [script], volumeMounts };
    const text = await output('keyed', '', { spec: { volumes, containers: [container] } });
    expect(text).toContain('BSABSA 400\n');
    expect(text).toContain('Read-only file system');
  });

  it('of a Secret follow it while the pod runs', async () => {
    await client.post(`${SPACE}/secrets`, { metadata: { name: 'rotated' }, stringData: { key: 'old' } });
    const script = 'cat /secret/key; until grep -q new /secret/key; do sleep 0.1; done; cat /secret/key';
    const volumeMounts = [{ name: 'secret', mountPath: '/secret' }];
    const container = { name: 'app', image: 'plain', args: [script], volumeMounts };
    const volumes = [{ name: 'secret', secret: { secretName: 'rotated' } }];
    await run('rotated', '', { spec: { restartPolicy: 'Never', volumes, containers: [container] } });
    await eventually(() => logOf('rotated') === 'old');
    const data = { key: Buffer.from('new').toString('base64') };
    await client.patch(`${SPACE}/secrets/rotated`, [{ op: 'replace', path: '/data', value: data }]);
    await phase('rotated', 'Succeeded');
    expect(logOf('rotated')).toBe('oldnew');
  });

  it('belong to the fsGroup of the pod, so that its user can write and read them', async () => {
    await client.post(`${SPACE}/secrets`, { metadata: { name: 'grouped' }, stringData: { key: 'S' } });
    const volumes = [
      { name: 'empty', emptyDir: {} },
      { name: 'secret', secret: { secretName: 'grouped', defaultMode: 0o400 } },
    ];
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
    const script = 'touch /empty/x && stat -c %u:%g /empty/x && cat /secret/key';
    const container = {
      name: 'app',
      image: 'plain',
      args: [script],
      volumeMounts,
      securityContext: HARDENED,
    };
    const spec = { volumes, containers: [container], securityContext: { fsGroup: 2000 } };
    expect(await output('group', '', { spec })).toBe('1000:2000\nS');
  });

  it('of a claim are the same folder for the next pod, and go with the claim', async () => {
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await client.post(`${SPACE}/persistentvolumeclaims`, { metadata: { name: 'data' }, spec: claim });
    const container = (script: string): Container => ({
      name: 'app',
      image: 'shell',
      args: [script],
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    });
    const spec = (script: string): Partial<PodSpec> => ({
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      containers: [container(script)],
    });
    await output('writer', '', { spec: spec('echo kept > /data/file') });
    expect(await output('reader', '', { spec: spec('cat /data/file') })).toBe('kept\n');
    await remove('writer');
    await remove('reader');
    const folders = join(kubelet.folder, 'claims');
    expect(readdirSync(folders)).toHaveLength(1);
    await client.request({ method: 'DELETE', path: `${SPACE}/persistentvolumeclaims/data` });
    await eventually(() => readdirSync(folders).length === 0, { what: 'the folder of the claim to be gone' });
  });
});

describe('the ServiceAccount of a pod', () => {
  it('has a token that the API server takes and that is bound to the pod', async () => {
    const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
    const [namespace, token = ''] = (
      await output('robot', `cat ${folder}/namespace; echo; cat ${folder}/token`)
    ).split('\n');
    expect(namespace).toBe('pods');
    const { body } = await client.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } });
    expect(body).toMatchObject({
      status: { authenticated: true, user: { username: 'system:serviceaccount:pods:default' } },
    });
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const { uid } = (await pod('robot')).metadata;
    expect(claims).toMatchObject({ 'kubernetes.io': { pod: { name: 'robot', uid } } });
  });

  it('reaches the API server at the address that its variables say, by the certificate that it mounts', async () => {
    const get =
      'const fs=require("fs"),d="/var/run/secrets/kubernetes.io/serviceaccount/",e=process.env;' +
      'require("https").get({host:e.KUBERNETES_SERVICE_HOST,port:e.KUBERNETES_SERVICE_PORT,ca:fs.readFileSync(d+"ca.crt"),' +
      'path:"/api/v1/namespaces/pods/secrets",headers:{authorization:"Bearer "+fs.readFileSync(d+"token")}},' +
      'r=>{console.log("status",r.statusCode);r.resume()})';
    expect(await output('api', `node -e '${get}'`)).toBe('status 403\n');
  });
});

describe('probes', () => {
  const SERVE = `node -e 'require("http").createServer((q,s)=>{s.statusCode=require("fs").existsSync("/tmp"+q.url)?200:500;s.end()}).listen(8080)'`;
  const probe = (path: string): object => ({ httpGet: { path, port: 'web' }, periodSeconds: 1 });
  const ports = [{ name: 'web', containerPort: 8080 }];
  const tell = async (name: string, ...command: string[]): Promise<void> => {
    const pid = await kubelet.pid({ namespace: 'pods', name }, 'app');
    await succeed('nsenter', [`--target=${pid}`, '--mount', '--root', '--', ...command]);
  };

  it('readiness follows the HTTP answer, and not before the startup probe has succeeded', async () => {
    const container = {
      ports,
      startupProbe: { ...probe('/started'), failureThreshold: 100 },
      readinessProbe: { ...probe('/ready'), failureThreshold: 1 },
    };
    await run('http', SERVE, { container });
    await eventually(() => kubelet.pid({ namespace: 'pods', name: 'http' }, 'app'));
    await tell('http', 'touch', '/tmp/ready');
    expect((await phase('http', 'Running')).status?.containerStatuses?.[0]).toMatchObject({
      started: false,
      ready: false,
    });
    await tell('http', 'touch', '/tmp/started');
    expect((await ready('http')).status?.containerStatuses?.[0]).toMatchObject({
      started: true,
      restartCount: 0,
    });
    await tell('http', 'rm', '/tmp/ready');
    await ready('http', 'False');
  });

  it('a container that is not alive is ended and started again', async () => {
    const livenessProbe = {
      exec: { command: ['test', '!', '-e', '/tmp/dead'] },
      periodSeconds: 1,
      failureThreshold: 1,
    };
    await run('dead', 'trap "exit 7" TERM; echo up; sleep infinity & wait', { container: { livenessProbe } });
    await eventually(() => logOf('dead') === 'up\n');
    await tell('dead', 'touch', '/tmp/dead');
    await eventually(async () => {
      const status = (await pod('dead')).status?.containerStatuses?.[0];
      expect(status).toMatchObject({
        restartCount: 1,
        ready: true,
        lastState: { terminated: { exitCode: 7 } },
      });
      return true;
    });
  });

  it('a TCP probe asks whether the port is open', async () => {
    const readinessProbe = { tcpSocket: { port: 8080 }, periodSeconds: 1, failureThreshold: 1 };
    await run('tcp', `until test -e /tmp/go; do sleep 0.1; done; ${SERVE}`, {
      container: { readinessProbe },
    });
    await eventually(() =>
      readFileSync(join(kubelet.folder, 'kubelet.log'), 'utf8').includes('to accept a connection'),
    );
    await ready('tcp', 'False');
    await tell('tcp', 'touch', '/tmp/go');
    await ready('tcp');
  });
});

describe('the end of a pod', () => {
  it('comes by its hook, then SIGTERM, within its grace period', async () => {
    const lifecycle = { preStop: { exec: { command: ['touch', '/tmp/hook'] } } };
    const script = 'trap "ls /tmp; echo term; exit 0" TERM; echo up; sleep infinity & wait';
    await run('polite', script, { container: { lifecycle } });
    await eventually(() => logOf('polite') === 'up\n');
    await remove('polite');
    expect(logOf('polite')).toBe('up\nhook\nterm\n');
  });

  it('is SIGKILL for one that will not go', async () => {
    await run('stubborn', 'trap "" TERM; while true; do sleep 1; done', {
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'app', image: 'shell', args: ['trap "" TERM; while true; do sleep 1; done'] }],
      },
    });
    await ready('stubborn');
    const pid = await kubelet.pid({ namespace: 'pods', name: 'stubborn' }, 'app');
    await remove('stubborn');
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });
});

describe('the network', () => {
  it('two pods serve the same port, a Service leads to them by its name, and this host reaches each', async () => {
    const serve = (word: string): string =>
      `node -e 'require("http").createServer((q,s)=>s.end("${word}")).listen(80)'`;
    const spec = { selector: { app: 'web' }, ports: [{ port: 8000, targetPort: 80 }] };
    await client.post(`${SPACE}/services`, { metadata: { name: 'web' }, spec });
    await run('web', serve('one'), { labels: { app: 'web' } });
    await run('web2', serve('two'));
    const ip = (await ready('web2')).status?.podIP ?? '';
    await ready('web');
    const client2 = `until node -e 'fetch("http://web.pods.svc:8000").then(r=>r.text()).then(t=>console.log(t))' 2>/dev/null; do sleep 0.1; done`;
    expect(await output('asks', client2)).toBe('one\n');
    const door = await forward(kubelet.folder, () => ({ ip, port: 80 }));
    cleanUp(() => door.close());
    expect(await (await eventually(() => fetch(`http://127.0.0.1:${door.port}`))).text()).toBe('two');
  });
});

describe('when its process is killed', () => {
  const children: ChildProcess[] = [];
  afterAll(() => children.forEach((child) => child.kill('SIGKILL')));

  it('the pods, namespaces and files are removed all the same', async () => {
    const script = join(import.meta.dirname, 'hold-kubelet.ts');
    const child = spawn(process.execPath, [script, cluster.kubeconfig, 'held'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const [folder] = (await once(createInterface(child.stdout), 'line')) as [string];
    const spec = {
      nodeName: 'held',
      containers: [{ name: 'app', image: 'shell', args: ['echo here; sleep 31415'] }],
    };
    await client.post(`${SPACE}/pods`, { metadata: { name: 'held' }, spec });
    await eventually(() => podLogs(folder, 'pods').get('held/app')?.includes('here'), {
      what: 'the pod to run',
    });
    const own = (): string[] =>
      readdirSync('/run/netns').filter((name) => name.startsWith(`${basename(folder)}-`));
    expect(own()).toHaveLength(2);
    child.kill('SIGKILL');
    await eventually(() => own().length === 0 && !existsSync(folder), { what: 'everything to be removed' });
    expect((await finished('pgrep', ['-f', 'sleep 31415'])).stdout).toBe('');
    await client.request({ method: 'DELETE', path: `${SPACE}/pods/held`, query: { gracePeriodSeconds: 0 } });
  });

  it('what the watchdog could not remove, killed too, is removed by the next kubelet that starts', async () => {
    const gone = spawn('true');
    await once(gone, 'exit');
    const name = `reroll-kubelet-${gone.pid}-123456-1-pod1`;
    await succeed('ip', ['netns', 'add', name]);
    await removeDeadRuns();
    expect(readdirSync('/run/netns')).not.toContain(name);
    expect(existsSync(kubelet.folder)).toBe(true);
  });
});
