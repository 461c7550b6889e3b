import { beforeAll, describe, expect, it } from 'vitest';
import type { PatchOperation } from '@reroll/core/reload/json-patch';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { REQUEST_ANNOTATION } from '@reroll/core/reload/request';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { jobOfCronJob } from '@reroll/core/reload/job-of-cron-job';
import { recreatedJob, pendingJobOf, type JobRead } from '@reroll/core/reload/pending-job';
import type { PodTemplate } from '@reroll/core/model';
import { collectionPath } from '@reroll/kube/objects';
import {
  annotated,
  argoRollout,
  auto,
  configMap,
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
import { caller, type Rule } from '../support/admin/callers.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { add, MARKER, METADATA, refusedOf, SHA1 } from '../support/objects/foreign-changes.ts';
import { installCrd, removeCrd } from '../support/objects/crds.ts';
import {
  DRY_RUN,
  connect,
  namespace,
  resourceOf,
  statusOf,
  type KubeObject,
  type Space,
} from '../support/kube.ts';
import { reloadEveryKind } from '../install/support/exercise.ts';
import { inStep, markerVariables } from '../support/objects/rollouts.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';
import { workerAccount, type WorkerAccount } from '../support/objects/worker-account.ts';

/**
 * The worker's account against the policies of the chart, at a real API server: everything here is asked as a dry run,
 * by an administrator, for whom it is valid, and by the account, whose roles allow it.
 */
const PERIOD = 'deployment.reloader.stakater.com/pause-period';
const PAUSED_AT = 'deployment.reloader.stakater.com~1paused-at';
const STRATEGY = 'reloader.stakater.com/rollout-strategy';

/** Kinds with a pod template that may change; a builder and where the template is. */
const TEMPLATES: Readonly<Record<string, { build: Builder; template: string }>> = {
  Deployment: { build: deployment, template: '/spec/template' },
  StatefulSet: { build: statefulSet, template: '/spec/template' },
  DaemonSet: { build: daemonSet, template: '/spec/template' },
  Rollout: { build: argoRollout, template: '/spec/template' },
  DeploymentConfig: { build: deploymentConfig, template: '/spec/template' },
  CronJob: { build: cronJob, template: '/spec/jobTemplate/spec/template' },
};
const ALL = Object.keys(TEMPLATES);

/** What others have: nobody reloads anything here. */
let space: Space;
/** An install, and where it reloads. */
let reroll: Reroll;
let shop: Space;
let account: WorkerAccount;
/** Of an install that patches CronJobs, and has other keys. */
let patching: WorkerAccount;

const FROM = 'example.com/from';

beforeAll(async () => {
  const client = connect(sharedCluster());
  for (const kind of ['Rollout', 'DeploymentConfig']) {
    await installCrd(client, kind);
    cleanUp(() => removeCrd(client, kind));
  }
  const cluster = sharedCluster();
  const other = await namespace(client, 'install');
  [space, shop] = [await namespace(client), await namespace(client)];
  const reloader = { isArgoRollouts: true, isOpenshift: 'auto' };
  [reroll, patching] = await Promise.all([
    startReroll({
      cluster,
      namespaces: [shop],
      chart: { reloader: { ...reloader, reloadOnDelete: true } },
      watcherFlags: ['--is-Argo-Rollouts=true', '--is-openshift=true', '--discovery-interval=200ms'],
      flags: ['--reload-on-delete=true'],
    }),
    workerAccount(cluster, other.name, {
      reloader: {
        ...reloader,
        reloadStrategy: 'annotations',
        cronJobStrategy: 'patch',
        custom_annotations: { lastReloadedFrom: FROM, pauseTime: 'example.com/paused-at' },
      },
    }),
  ]);
  account = reroll.account ?? expect.fail();
  for (const [kind, { build }] of Object.entries({ ...TEMPLATES, Job: { build: job } })) {
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

async function expectRefused(
  of: Omit<Asked, 'patch'>,
  changes: Readonly<Record<string, PatchOperation>>,
): Promise<void> {
  const told = Object.entries(changes).map(
    async ([what, operation]) => [what, await answers({ ...of, patch: [operation] })] as const,
  );
  const expected = Object.keys(changes).map((what) => [what, REFUSED]);
  expect(Object.fromEntries(await Promise.all(told))).toEqual(Object.fromEntries(expected));
}

describe.each(ALL)('a %s', (kind) => {
  const { template } = TEMPLATES[kind] ?? { template: '' };

  it('cannot be changed otherwise by the worker', async () => {
    await expectRefused({ ref: refOf(kind) }, refusedOf(kind, template));
  });

  it('can be marked and recorded by the worker', async () => {
    const as = kind === 'CronJob' ? patching : account;
    const env = `${template}/spec/containers/0/env`;
    const from = kind === 'CronJob' ? FROM : 'reloader.stakater.com/last-reloaded-from';
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

it('a CronJob whose template may be patched takes a marker, and nothing else', async () => {
  const { 'a marker in its template': marker, ...others } = refusedOf(
    'CronJob',
    '/spec/jobTemplate/spec/template',
  );
  const of = { ref: refOf('CronJob'), as: patching };
  await expectRefused(of, others);
  expect(await answers({ ...of, patch: [marker ?? expect.fail()] })).toEqual(ALLOWED);
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

it('a Deployment with 3,000 variables costs no more than the API server allows', async () => {
  const many = Array.from({ length: 3_000 }, (_, index) => variable(`NUMBER_${index}`, String(index)));
  await space.apply(deployment('large', ...many, variable('STAKATER_OLD_CONFIGMAP', SHA1)));
  const env = '/spec/template/spec/containers/0/env';
  const ref = 'Deployment/large';
  expect(await answers({ ref, patch: [add(`${env}/-`, MARKER)] })).toEqual(ALLOWED);
  expect(await answers({ ref, patch: [add(`${env}/-`, { name: 'X', value: 'x' })] })).toEqual(REFUSED);
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

it('a Rollout is restarted by its field if it asks for that', async () => {
  const patch = [add('/spec/restartAt', '2026-01-01T00:00:00Z')];
  expect(await answers({ ref: 'Rollout/restarting', patch })).toEqual(ALLOWED);
});

it('a Job cannot be changed by the worker', async () => {
  await expectRefused(
    { ref: 'Job/job' },
    {
      ...METADATA,
      'how many pods it has': add('/spec/parallelism', 7),
      'a suspension': add('/spec/suspend', true),
      'how long it may run': add('/spec/activeDeadlineSeconds', 7),
    },
  );
});

it('kube-system is left alone, unless the values say otherwise', async () => {
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

describe('a Job that the worker creates', () => {
  const container = (more: object): object => ({ containers: [{ name: 'app', image: 'x', ...more }] });
  const context = (more: object): object => container({ securityContext: more });

  it.each(Object.entries(FORMS))('is allowed %s', async (_form, make) => {
    const plain = [
      {},
      { serviceAccountName: 'ordinary' },
      context({ capabilities: { add: ['NET_BIND_SERVICE'] } }),
    ];
    for (const podSpec of plain) expect(await created(make(podSpec))).toEqual({ admin: 201, worker: 201 });
    expect(await created(make({ hostPID: true }))).toEqual({ admin: 201, worker: 403 });
  });

  it('is refused with more than an ordinary pod has', async () => {
    const podSpecs = {
      'a privileged container': context({ privileged: true }),
      'a privileged init container': {
        initContainers: [{ name: 'i', image: 'x', securityContext: { privileged: true } }],
      },
      'a capability': context({ capabilities: { add: ['SYS_ADMIN'] } }),
      'no seccomp profile': { securityContext: { seccompProfile: { type: 'Unconfined' } } },
      'the network of its node': { hostNetwork: true },
      'the processes of its node': { hostPID: true },
      'the memory of its node': { hostIPC: true },
      'a path of its node': { volumes: [{ name: 'x', hostPath: { path: '/' } }] },
      'a port of its node': container({ ports: [{ containerPort: 80, hostPort: 80 }] }),
      'an account that may do all': { serviceAccountName: 'admin' },
      'an account that may create pods everywhere': { serviceAccountName: 'operator' },
      'an account that may update StatefulSets everywhere': { serviceAccountName: 'editor' },
      'an account that may reach every kubelet': { serviceAccountName: 'prober' },
    };
    for (const [what, podSpec] of Object.entries(podSpecs))
      expect(await created(recreated(podSpec)), what).toEqual({ admin: 201, worker: 403 });
  });

  it('in none of these forms is refused', async () => {
    const { apiVersion, kind, metadata, spec } = recreated({});
    const bare = { apiVersion, kind, metadata: { name: metadata.name }, spec };
    expect(await created(bare)).toEqual({ admin: 201, worker: 403 });
  });
});

/** Accounts with rights in the whole cluster. */
beforeAll(async () => {
  const pods = [''];
  const roles: Readonly<Record<string, Rule>> = {
    admin: { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    operator: { apiGroups: pods, resources: ['pods'], verbs: ['create'] },
    editor: { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['update'] },
    prober: { apiGroups: pods, resources: ['nodes/proxy'], verbs: ['get'] },
    ordinary: { apiGroups: pods, resources: ['pods'], verbs: ['get', 'list'] },
  };
  for (const [name, rule] of Object.entries(roles)) await caller(space, name, { cluster: [rule] });
});

it('every way to reload works under them: each kind, a pause and its end, the field of a Rollout, a deletion, a request', async () => {
  const ref = 'Deployment/once';
  const paused = annotated({ [PERIOD]: '1s' });
  const restarted = annotated({ [STRATEGY]: 'restart' });
  await shop.apply(
    configMap('own', { v: '1' }),
    deployment('once', auto(), paused, usingEnvFrom('own')),
    argoRollout('restarted', auto(), restarted, usingEnvFrom('own')),
  );
  for (const each of [ref, 'Rollout/restarted']) await inStep(shop, each, ['ConfigMap/own']);
  await reloadEveryKind(shop, {});
  await shop.setData('ConfigMap/own', { v: '2' });
  await eventually(() => reroll.logs().includes(`Successfully resumed deployment 'once'`));
  const after = await inStep(shop, 'Rollout/restarted', ['ConfigMap/own']);
  expect((after.spec as { restartAt?: string }).restartAt).toBeDefined();
  const { spec, metadata } = await inStep(shop, ref, ['ConfigMap/own']);
  expect((spec as { paused?: boolean }).paused ?? false).toBe(false);
  expect(metadata.annotations?.[KEYS.pausedAt]).toBeUndefined();
  await shop.delete('ConfigMap/own');
  await eventually(async () => Object.keys(markerVariables(await shop.get(ref))).length === 0);
  const requests = new ReloadRequests(reroll.redis, reroll.catalog.keys.requests);
  const { id } = await requests.put(keyIn(shop, ref), { actor: 'ann', reason: 'a test' });
  await reroll.queues.enqueueReloadNow(keyIn(shop, ref), Date.now());
  await eventually(async () => {
    const { template } = (await shop.get(ref)).spec;
    return template.metadata?.annotations?.[REQUEST_ANNOTATION] === id;
  });
  const refused = (await reroll.outcomes(shop)).filter(({ reason }) => /^(Forbidden|Invalid)$/.test(reason));
  expect(refused).toEqual([]);
});
