import { beforeAll, describe, expect, it } from 'vitest';
import type { PatchOperation } from '@reroll/core/reload/json-patch';
import { jobOfCronJob } from '@reroll/core/reload/job-of-cron-job';
import { recreatedJob, pendingJobOf, type JobRead } from '@reroll/core/reload/pending-job';
import type { PodTemplate } from '@reroll/core/model';
import { collectionPath } from '@reroll/kube/objects';
import {
  annotated,
  argoRollout,
  auto,
  cronJob,
  daemonSet,
  deployment,
  deploymentConfig,
  job,
  statefulSet,
  usingEnvFrom,
  variable,
  type Builder,
} from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { installCrd, removeCrd } from '../support/objects/crds.ts';
import { connect, namespace, resourceOf, type KubeObject, type Space } from '../support/kube.ts';
import { DRY_RUN, statusOf, workerAccount, type WorkerAccount } from '../support/objects/worker-account.ts';

/**
 * The worker's account against the policies of the chart, at a real API server: everything here is asked as a dry run,
 * by an administrator, for whom it is valid, and by the account, whose roles allow it.
 */
const SHA1 = 'a'.repeat(40);
const MARKER = { name: 'STAKATER_CM_CONFIGMAP', value: SHA1 };
const PERIOD = 'deployment.reloader.stakater.com/pause-period';
const PAUSED_AT = 'deployment.reloader.stakater.com~1paused-at';
const STRATEGY = 'reloader.stakater.com/rollout-strategy';

/** Kinds with a pod template that may change; a builder and where the template is. */
const KINDS: Readonly<Record<string, { build: Builder; template: string }>> = {
  Deployment: { build: deployment, template: '/spec/template' },
  StatefulSet: { build: statefulSet, template: '/spec/template' },
  DaemonSet: { build: daemonSet, template: '/spec/template' },
  Rollout: { build: argoRollout, template: '/spec/template' },
  DeploymentConfig: { build: deploymentConfig, template: '/spec/template' },
  CronJob: { build: cronJob, template: '/spec/jobTemplate/spec/template' },
};
const ALL = Object.keys(KINDS);
const OWNER = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }];

let space: Space;
let account: WorkerAccount;
let patching: WorkerAccount;

beforeAll(async () => {
  const client = connect(sharedCluster());
  for (const kind of ['Rollout', 'DeploymentConfig']) {
    await installCrd(client, kind);
    cleanUp(() => removeCrd(client, kind));
  }
  space = await namespace(client);
  const reloader = { isArgoRollouts: true, isOpenshift: 'auto' };
  const [one, two] = [await namespace(client, 'install'), await namespace(client, 'install')];
  account = await workerAccount(sharedCluster(), one.name, { reloader });
  patching = await workerAccount(sharedCluster(), two.name, {
    reloader: {
      ...reloader,
      cronJobStrategy: 'patch',
      custom_annotations: { lastReloadedFrom: 'example.com/from', pauseTime: 'example.com/paused-at' },
    },
  });
  for (const [kind, { build }] of Object.entries({ ...KINDS, Job: { build: job } })) {
    const env = [variable('OWN', 'kept'), variable('STAKATER_OLD_CONFIGMAP', SHA1)];
    await space.apply(build(kind.toLowerCase(), auto(), usingEnvFrom('cm'), ...env));
  }
  await space.apply(
    deployment('pausable', annotated({ [PERIOD]: '1m' })),
    argoRollout('restarting', annotated({ [STRATEGY]: 'restart' })),
  );
});

interface Asked {
  readonly ref: string;
  readonly patch: readonly PatchOperation[];
  readonly as?: WorkerAccount;
}

async function answers({ ref, patch, as = account }: Asked): Promise<{ admin: number; worker: number }> {
  const path = space.path(ref);
  return {
    admin: await statusOf(space.client.patch(path, patch, DRY_RUN)),
    worker: await statusOf(as.client.patch(path, patch, DRY_RUN)),
  };
}

const REFUSED = { admin: 200, worker: 403 };
const ALLOWED = { admin: 200, worker: 200 };

function refOf(kind: string): string {
  return `${kind}/${kind.toLowerCase()}`;
}

function add(path: string, value: unknown): PatchOperation {
  return { op: 'add', path, value };
}

/** Of every workload, whatever its kind. */
const METADATA: Readonly<Record<string, PatchOperation>> = {
  'a label': add('/metadata/labels/x', 'y'),
  'an annotation of somebody else': add('/metadata/annotations/x', 'y'),
  'whether it is reloaded': add('/metadata/annotations/reloader.stakater.com~1auto', 'false'),
  owners: add('/metadata/ownerReferences', OWNER),
  finalizers: add('/metadata/finalizers', ['example.com/x']),
};

/** What is no marker, in a pod template. */
function templateChanges(template: string): Readonly<Record<string, PatchOperation>> {
  const [spec, container] = [`${template}/spec`, `${template}/spec/containers/0`];
  const config = { name: 'x', configMap: { name: 'x' } };
  return {
    'an image': { op: 'replace', path: `${container}/image`, value: 'evil' },
    'a command': add(`${container}/command`, ['sh']),
    arguments: add(`${container}/args`, ['-c']),
    'a variable': add(`${container}/env/-`, { name: 'LD_PRELOAD', value: '/x' }),
    'the value of a variable': { op: 'replace', path: `${container}/env/0/value`, value: 'changed' },
    'a variable that is taken away': { op: 'remove', path: `${container}/env/0` },
    'a variable before others': add(`${container}/env/0`, { name: 'FIRST', value: 'x' }),
    'a marker that is no hash': add(`${container}/env/-`, { ...MARKER, value: '$(OWN)' }),
    'a marker of something else': add(`${container}/env/-`, { name: 'STAKATER_X', value: SHA1 }),
    'a marker from a Secret': add(`${container}/env/-`, {
      name: MARKER.name,
      valueFrom: { secretKeyRef: { name: 'x', key: 'x' } },
    }),
    'variables from a Secret': add(`${container}/envFrom/-`, { secretRef: { name: 'x' } }),
    'the security context of a container': add(`${container}/securityContext`, { privileged: true }),
    resources: add(`${container}/resources`, { limits: { cpu: '1' } }),
    'a life-cycle hook': add(`${container}/lifecycle`, { postStart: { exec: { command: ['x'] } } }),
    'a container': add(`${spec}/containers/-`, { name: 'evil', image: 'evil' }),
    'an init container': add(`${spec}/initContainers`, [{ name: 'evil', image: 'evil' }]),
    'a service account': add(`${spec}/serviceAccountName`, 'admin'),
    'a volume': add(`${spec}/volumes`, [config]),
    'a path of the node': add(`${spec}/volumes`, [{ name: 'x', hostPath: { path: '/' } }]),
    'the network of the node': add(`${spec}/hostNetwork`, true),
    'the security context of pods': add(`${spec}/securityContext`, { runAsUser: 0 }),
    'a node': add(`${spec}/nodeSelector`, { x: 'y' }),
    'a pull secret': add(`${spec}/imagePullSecrets`, [{ name: 'x' }]),
    'a label of pods': add(`${template}/metadata/labels/x`, 'y'),
    'an annotation of pods': add(`${template}/metadata/annotations`, { x: 'y' }),
  };
}

/** What is no template, in a spec. */
const SPEC_CHANGES: Readonly<Record<string, Readonly<Record<string, PatchOperation>>>> = {
  Deployment: {
    replicas: add('/spec/replicas', 7),
    'how it is rolled': add('/spec/strategy', { type: 'Recreate' }),
    'a pause that no period asks for': add('/spec/paused', true),
  },
  StatefulSet: { replicas: add('/spec/replicas', 7) },
  DaemonSet: { 'when its pods are ready': add('/spec/minReadySeconds', 7) },
  Rollout: {
    replicas: add('/spec/replicas', 7),
    'a pause': add('/spec/paused', true),
    'a restart that is not asked for': add('/spec/restartAt', '2026-01-01T00:00:00Z'),
    'whose template it has': add('/spec/workloadRef', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'x',
    }),
  },
  DeploymentConfig: { triggers: add('/spec/triggers', []), replicas: add('/spec/replicas', 7) },
  CronJob: {
    'its schedule': add('/spec/schedule', '* * * * *'),
    'a suspension': add('/spec/suspend', true),
    'how many pods its Jobs have': add('/spec/jobTemplate/spec/parallelism', 7),
    'labels of its Jobs': add('/spec/jobTemplate/metadata', { labels: { x: 'y' } }),
    'a marker in its template': add('/spec/jobTemplate/spec/template/spec/containers/0/env/-', MARKER),
  },
};

describe.each(ALL)('a %s', (kind) => {
  const { template } = KINDS[kind] ?? { template: '' };
  const refused = { ...METADATA, ...templateChanges(template), ...SPEC_CHANGES[kind] };

  it.each(Object.entries(refused))('cannot be changed by the worker: %s', async (_, operation) => {
    expect(await answers({ ref: refOf(kind), patch: [operation] })).toEqual(REFUSED);
  });

  it('can be marked and recorded by the worker', async () => {
    const as = kind === 'CronJob' ? patching : account;
    const env = `${template}/spec/containers/0/env`;
    const from = kind === 'CronJob' ? 'example.com/from' : 'reloader.stakater.com/last-reloaded-from';
    const patches: readonly (readonly PatchOperation[])[] = [
      [add('/metadata/annotations/reroll.dev~1applied', '{}'), add(`${env}/-`, MARKER)],
      [{ op: 'replace', path: `${env}/1/value`, value: 'b'.repeat(64) }],
      [{ op: 'replace', path: `${env}/1/value`, value: `k0123abcd.${'b'.repeat(64)}` }],
      [{ op: 'remove', path: `${env}/1` }],
      [add(`${template}/metadata/annotations`, { [from]: '{}', 'reroll.dev/reload-request': '1-x' })],
    ];
    for (const patch of patches) expect(await answers({ ref: refOf(kind), patch, as })).toEqual(ALLOWED);
  });
});

describe('a CronJob whose template may be patched', () => {
  const refused = {
    ...METADATA,
    ...templateChanges('/spec/jobTemplate/spec/template'),
    ...SPEC_CHANGES['CronJob'],
  };
  const { 'a marker in its template': allowed, ...others } = refused;

  it.each(Object.entries(others))('cannot be changed otherwise: %s', async (_, operation) => {
    expect(await answers({ ref: refOf('CronJob'), patch: [operation], as: patching })).toEqual(REFUSED);
  });

  it('takes a marker', async () => {
    expect(allowed).toBeDefined();
    const patch = allowed === undefined ? [] : [allowed];
    expect(await answers({ ref: refOf('CronJob'), patch, as: patching })).toEqual(ALLOWED);
  });
});

describe('the annotations of Reroll', () => {
  it.each(['applied', 'next-job', 'reload-request'])('reroll.dev/%s is written', async (name) => {
    const patch = [add(`/metadata/annotations/reroll.dev~1${name}`, 'x')];
    for (const kind of ALL) expect(await answers({ ref: refOf(kind), patch })).toEqual(ALLOWED);
    expect(await answers({ ref: 'Job/job', patch })).toEqual(ALLOWED);
  });

  it('have the keys of the values, and no others', async () => {
    const patch = [add('/metadata/annotations/example.com~1paused-at', 'x')];
    expect(await answers({ ref: refOf('Deployment'), patch, as: patching })).toEqual(ALLOWED);
    expect(await answers({ ref: refOf('Deployment'), patch })).toEqual(REFUSED);
    const own = [add(`/metadata/annotations/${PAUSED_AT}`, 'x')];
    expect(await answers({ ref: refOf('Deployment'), patch: own, as: patching })).toEqual(REFUSED);
  });
});

describe('a Deployment with 3,000 variables', () => {
  it('costs no more than the API server allows', async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => variable(`NUMBER_${index}`, String(index)));
    await space.apply(deployment('large', ...many, variable('STAKATER_OLD_CONFIGMAP', SHA1)));
    const env = '/spec/template/spec/containers/0/env';
    const ref = 'Deployment/large';
    expect(await answers({ ref, patch: [add(`${env}/-`, MARKER)] })).toEqual(ALLOWED);
    expect(await answers({ ref, patch: [add(`${env}/-`, { name: 'X', value: 'x' })] })).toEqual(REFUSED);
  });
});

describe('a pause', () => {
  const since = add(`/metadata/annotations/${PAUSED_AT}`, '2026-01-01T00:00:00.000Z');

  it('begins with its time, and only by it', async () => {
    const pause = add('/spec/paused', true);
    expect(await answers({ ref: 'Deployment/pausable', patch: [pause, since] })).toEqual(ALLOWED);
    expect(await answers({ ref: 'Deployment/pausable', patch: [pause] })).toEqual(REFUSED);
    expect(await answers({ ref: 'Deployment/deployment', patch: [pause, since] })).toEqual(REFUSED);
  });

  it('ends with its time; one of the owner does not', async () => {
    await space.apply(
      { ...deployment('ours', annotated({ [PERIOD]: '1m', [PAUSED_AT.replace('~1', '/')]: 'x' })) },
      deployment('theirs', annotated({ [PERIOD]: '1m' })),
    );
    for (const name of ['ours', 'theirs'])
      await space.patch(`Deployment/${name}`, { spec: { paused: true } });
    const resume: PatchOperation = { op: 'replace', path: '/spec/paused', value: false };
    const forget: PatchOperation = { op: 'remove', path: `/metadata/annotations/${PAUSED_AT}` };
    expect(await answers({ ref: 'Deployment/ours', patch: [resume, forget] })).toEqual(ALLOWED);
    expect(await answers({ ref: 'Deployment/ours', patch: [resume] })).toEqual(REFUSED);
    expect(await answers({ ref: 'Deployment/theirs', patch: [resume] })).toEqual(REFUSED);
  });
});

describe('a Rollout', () => {
  it('is restarted by its field if it asks for that', async () => {
    const patch = [add('/spec/restartAt', '2026-01-01T00:00:00Z')];
    expect(await answers({ ref: 'Rollout/restarting', patch })).toEqual(ALLOWED);
  });
});

describe('a Job', () => {
  const changes: Readonly<Record<string, PatchOperation>> = {
    ...METADATA,
    'how many pods it has': add('/spec/parallelism', 7),
    'a suspension': add('/spec/suspend', true),
    'how long it may run': add('/spec/activeDeadlineSeconds', 7),
  };

  it.each(Object.entries(changes))('cannot be changed by the worker: %s', async (_, operation) => {
    expect(await answers({ ref: 'Job/job', patch: [operation] })).toEqual(REFUSED);
  });
});

describe('kube-system', () => {
  it('is left alone, unless the values say otherwise', async () => {
    const other = await namespace(space.client, 'install');
    const reloader = { watchKubeSystem: true, ignoreNamespaces: [space.name] };
    const including = await workerAccount(sharedCluster(), other.name, { reloader });
    const path = '/apis/batch/v1/namespaces/kube-system/jobs';
    const create = async ({ client }: WorkerAccount): Promise<number> =>
      await statusOf(client.post(path, recreated({}, 'kube-system'), DRY_RUN));
    expect({ default: await create(account), including: await create(including) }).toEqual({
      default: 403,
      including: 201,
    });
    const patch = [add('/metadata/annotations/reroll.dev~1applied', 'x')];
    expect(await answers({ ref: 'Deployment/deployment', patch, as: including })).toEqual(REFUSED);
  });
});

/** Jobs as the worker makes them, of a template with this in its pods' spec. */
function jobRead(podSpec: object, where: string): JobRead {
  const { metadata, spec } = job('made', auto()) as unknown as KubeObject;
  const template = { ...spec.template, spec: { ...spec.template.spec, ...podSpec } };
  return { metadata: { ...metadata, namespace: where, uid: 'u-1' }, spec: { template } };
}

function recreated(podSpec: object, where = space.name): ReturnType<typeof recreatedJob> {
  const read = jobRead(podSpec, where);
  return recreatedJob(read, { template: read.spec?.template as PodTemplate, record: '{}' });
}

function pending(podSpec: object): object {
  return pendingJobOf({ uid: 'u-1', manifest: recreated(podSpec) });
}

function ofCronJob(podSpec: object): object {
  const { template } = recreated(podSpec).spec;
  const cronJobMetadata = { name: 'cronjob', namespace: space.name, uid: 'u-1' };
  return jobOfCronJob({
    cronJob: cronJobMetadata,
    jobTemplate: {},
    template: template as PodTemplate,
    name: 'cronjob-1',
    record: '{}',
  });
}

const FORMS = { 'in the place of a Job': recreated, 'a pending Job': pending, 'of a CronJob': ofCronJob };

async function created(manifest: object): Promise<{ admin: number; worker: number }> {
  const path = collectionPath(resourceOf('Job'), space.name);
  return {
    admin: await statusOf(space.client.post(path, manifest, DRY_RUN)),
    worker: await statusOf(account.client.post(path, manifest, DRY_RUN)),
  };
}

describe.each(Object.entries(FORMS))('a Job that the worker creates, %s', (_form, make) => {
  const container = (more: object): object => ({ containers: [{ name: 'app', image: 'x', ...more }] });
  const context = (more: object): object => container({ securityContext: more });

  it('is allowed', async () => {
    const plain = [
      {},
      { serviceAccountName: 'ordinary' },
      context({ capabilities: { add: ['NET_BIND_SERVICE'] } }),
    ];
    for (const podSpec of plain) expect(await created(make(podSpec))).toEqual({ admin: 201, worker: 201 });
  });

  it.each<[string, object]>([
    ['a privileged container', context({ privileged: true })],
    [
      'a privileged init container',
      { initContainers: [{ name: 'i', image: 'x', securityContext: { privileged: true } }] },
    ],
    ['a capability', context({ capabilities: { add: ['SYS_ADMIN'] } })],
    ['no seccomp profile', { securityContext: { seccompProfile: { type: 'Unconfined' } } }],
    ['the network of its node', { hostNetwork: true }],
    ['the processes of its node', { hostPID: true }],
    ['the memory of its node', { hostIPC: true }],
    ['a path of its node', { volumes: [{ name: 'x', hostPath: { path: '/' } }] }],
    ['a port of its node', container({ ports: [{ containerPort: 80, hostPort: 80 }] })],
    ['an account that may do all', { serviceAccountName: 'admin' }],
    ['an account that may create pods everywhere', { serviceAccountName: 'operator' }],
  ])('is refused with %s', async (_what, podSpec) => {
    expect(await created(make(podSpec))).toEqual({ admin: 201, worker: 403 });
  });
});

describe('a Job', () => {
  it('that is in none of these forms is refused', async () => {
    const { apiVersion, kind, metadata, spec } = recreated({});
    const bare = { apiVersion, kind, metadata: { name: metadata.name }, spec };
    expect(await created(bare)).toEqual({ admin: 201, worker: 403 });
  });
});

/** Accounts with rights in the whole cluster. */
beforeAll(async () => {
  const { client, name } = space;
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const roles = {
    admin: { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    operator: { apiGroups: [''], resources: ['pods'], verbs: ['create'] },
    ordinary: { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
  };
  for (const [account, rule] of Object.entries(roles)) {
    const role = `${name}-${account}`;
    await client.post(`${rbac}/clusterroles`, { metadata: { name: role }, rules: [rule] });
    cleanUp(() => client.request({ method: 'DELETE', path: `${rbac}/clusterroles/${role}` }));
    await client.post(`${rbac}/clusterrolebindings`, {
      metadata: { name: role },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: name }],
    });
    cleanUp(() => client.request({ method: 'DELETE', path: `${rbac}/clusterrolebindings/${role}` }));
  }
});
