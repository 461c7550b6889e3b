import { KubeClient, type KubeRequest } from '@reroll/shared/kube/connection';
import { beforeAll, describe, expect, it } from 'vitest';
import { RecreateJob } from '../apps/worker/src/reloads/recreate-job.ts';
import type { Reload } from '../apps/worker/src/reloads/reload-way.ts';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '../libs/shared/src/core/annotation-keys.ts';
import { RECORD_ANNOTATION } from '../libs/shared/src/core/record/record.ts';
import { TWIN_ANNOTATION } from '../libs/shared/src/core/reload/job-twin.ts';
import { observed } from '../libs/shared/src/kube/workloads/observe.ts';
import { workloadKind } from '../libs/shared/src/kube/workloads/registry.ts';
import { auto, configMap, cronJob, finishing, job, usingEnvFrom, variable } from './support/builders.ts';
import { cleanUp } from './support/cleanup.ts';
import { sharedCluster } from './support/cluster.ts';
import { connect, namespace, type KubeObject, type Manifest, type Space } from './support/kube.ts';
import { refuseCreatedJobs } from './support/policy.ts';
import { startReroll, type Reroll } from './support/reroll.ts';
import { inStep, markerVariables, settled } from './support/rollouts.ts';
import { eventually } from './support/wait.ts';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space], sweepInterval: '2s' });
});

/** A Job that is recorded, with one source of its own name. */
async function recorded(name: string): Promise<KubeObject> {
  await space.apply(configMap(name, { v: '1' }), job(name, auto(), usingEnvFrom(name)));
  return await inStep(space, `Job/${name}`, [`ConfigMap/${name}`]);
}

async function change(name: string, v: string): Promise<KubeObject> {
  await space.setData(`ConfigMap/${name}`, { v });
  await inStep(space, `Job/${name}`, [`ConfigMap/${name}`]);
  await settled(reroll, space);
  return await space.get(`Job/${name}`);
}

async function reasonsOf(name: string): Promise<string[]> {
  return (await reroll.outcomes(space, `Job/${name}`)).map(({ reason }) => reason);
}

/** Why the last change left a Job alone, once that is written. */
async function leftAlone(at: Reroll, where: Space, name: string): Promise<string> {
  return await eventually(async () => {
    const changes = await at.changes(where, `ConfigMap/${name}`);
    return changes.at(-1)?.leftAlone.find(({ workload }) => workload.endsWith(`/${name}`))?.reason;
  });
}

async function twins(where: Space = space): Promise<string[]> {
  const jobs = await where.list('Job');
  const found = jobs.filter(({ metadata }) => metadata.annotations?.[TWIN_ANNOTATION] !== undefined);
  return found.map(({ metadata }) => metadata.name);
}

async function finished(where: Space, name: string): Promise<KubeObject> {
  return await eventually(async () => {
    const object = await where.get(`Job/${name}`);
    const conditions = (object.status?.conditions ?? []) as { type: string; status: string }[];
    return conditions.some(({ type, status }) => type === 'Complete' && status === 'True') ? object : null;
  });
}

describe('a change of what a Job uses', () => {
  it('deletes it and creates it again: the same in all, but for the marker and the record', async () => {
    const before = await recorded('plain');
    const after = await change('plain', '2');
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(after.metadata.labels).toEqual(before.metadata.labels);
    expect(Object.keys(after.metadata.annotations ?? {})).toEqual(
      Object.keys(before.metadata.annotations ?? {}),
    );
    expect(after.spec.template.metadata).toMatchObject({
      labels: { made: 'by-the-spec', 'job-name': 'plain' },
    });
    expect(Object.keys(markerVariables(after).app ?? {})).toEqual(['STAKATER_PLAIN_CONFIGMAP']);
    expect(after.spec).not.toHaveProperty('suspend', true);
    expect(await twins()).toEqual([]);
    expect((await reasonsOf('plain')).filter((reason) => reason === 'JobRecreated')).toHaveLength(1);
  });

  it('does so for each change, also for one that goes back to what was before', async () => {
    const uids = [await recorded('flip'), await change('flip', '2'), await change('flip', '1')];
    expect(new Set(uids.map(({ metadata }) => metadata.uid)).size).toBe(3);
    expect((await reasonsOf('flip')).filter((reason) => reason === 'JobRecreated')).toHaveLength(2);
  });

  it('leaves a finished Job alone', async () => {
    await space.apply(configMap('done', { v: '1' }), job('done', auto(), usingEnvFrom('done'), finishing()));
    const before = await finished(space, 'done');
    await settled(reroll, space);
    await space.setData('ConfigMap/done', { v: '2' });
    expect(await leftAlone(reroll, space, 'done')).toBe('JobFinished');
    await settled(reroll, space);
    expect((await space.get('Job/done')).metadata.uid).toBe(before.metadata.uid);
  });

  it('leaves a Job of a CronJob alone', async () => {
    const [, owner] = await space.apply(configMap('owned', { v: '1' }), cronJob('owner'));
    const { name, uid } = (owner as KubeObject).metadata;
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true }];
    const plain = job('owned', auto(), usingEnvFrom('owned'));
    const [before] = await space.apply({
      ...plain,
      metadata: { ...plain.metadata, ownerReferences },
    } as Manifest);
    await settled(reroll, space);
    await space.setData('ConfigMap/owned', { v: '2' });
    expect(await leftAlone(reroll, space, 'owned')).toBe('JobOfCronJob');
    await settled(reroll, space);
    const after = await space.get('Job/owned');
    expect(after.metadata.uid).toBe(before?.metadata.uid);
    expect(after.metadata.annotations).not.toHaveProperty([RECORD_ANNOTATION]);
  });

  it('that the API server would refuse leaves the Job as it is, until it is allowed', async () => {
    const before = await recorded('refused');
    const refusal = await refuseCreatedJobs(space, { workloads: ['refused'], reason: 'Invalid' });
    await space.setData('ConfigMap/refused', { v: '2' });
    await eventually(async () => (await reasonsOf('refused')).includes('Invalid'));
    expect((await space.get('Job/refused')).metadata.uid).toBe(before.metadata.uid);
    expect(await twins()).toEqual([]);
    await refusal.end();
    const after = await inStep(space, 'Job/refused', ['ConfigMap/refused'], { within: 60_000 });
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
  });
});

it('with --recreate-finished-jobs a finished Job is run again, as by stakater/Reloader', async () => {
  const other = await namespace(space.client);
  const flags = ['--recreate-finished-jobs'];
  const again = await startReroll({ cluster: sharedCluster(), namespaces: [other], flags });
  await other.apply(configMap('done', { v: '1' }), job('done', auto(), usingEnvFrom('done'), finishing()));
  const before = await finished(other, 'done');
  await inStep(other, 'Job/done', ['ConfigMap/done']);
  await other.setData('ConfigMap/done', { v: '2' });
  await inStep(other, 'Job/done', ['ConfigMap/done']);
  await settled(again, other);
  expect((await finished(other, 'done')).metadata.uid).not.toBe(before.metadata.uid);
});

describe('a worker that dies in the middle of a recreation', () => {
  const STEPS = ['dry run', 'twin', 'deletion', 'creation', 'end of the twin'];
  const RECORD = '{"v":1,"s":{}}';

  const patch = { send: () => Promise.reject(new Error('nothing but a record to be written')) };

  /** Dies before the call of this number, the first being 0. */
  class DyingClient extends KubeClient {
    left: number;

    constructor(kubeconfig: string, calls: number) {
      super({ kubeconfig, userAgent: 'e2e' });
      this.left = calls;
      cleanUp(() => this.close());
    }

    override request<T>(request: KubeRequest): ReturnType<KubeClient['request']> & Promise<never> {
      this.left -= 1;
      if (this.left < 0) return Promise.reject(new Error('died'));
      return super.request<T>(request) as never;
    }
  }

  async function dies(where: Space, name: string, calls: number): Promise<KubeObject> {
    const manifest = { ...job(name, auto(), variable('OWN', 'kept')) } as Manifest & { spec: object };
    const [before] = await where.apply({
      ...manifest,
      spec: { ...manifest.spec, backoffLimit: 3 },
    } as Manifest);
    const client = new DyingClient(sharedCluster().kubeconfig, calls);
    const settings = { client, strategy: 'env-vars', fieldManager: 'e2e', markerAnnotation: 'x' } as const;
    await expect(new RecreateJob({ ...settings, patch }).send(reloadOf(before as never))).rejects.toThrow(
      'died',
    );
    return before as KubeObject;
  }

  function reloadOf(object: KubeObject): Reload {
    const definition = workloadKind('Job');
    if (!definition) throw new Error('expected Job to be a kind');
    const { namespace: inNamespace, name } = object.metadata;
    const seen = observed(definition, object as never, KEYS);
    const source = {
      kind: 'ConfigMap',
      namespace: inNamespace,
      name: 'cm',
      auto: false,
      markerHash: 'h',
    } as const;
    return {
      workload: {
        key: `Job/${inNamespace}/${name}`,
        definition,
        object: object as never,
        written: { definition, object: object as never },
        template: object.spec.template,
        observed: seen,
        facts: { workload: undefined, sources: new Map(), readings: new Map() },
        edges: [],
      },
      rolled: [source],
      record: RECORD,
    };
  }

  it('loses nothing and doubles nothing, whichever call was its last', async () => {
    const other = await namespace(space.client);
    const before = await Promise.all(STEPS.map((_, calls) => dies(other, `job-${calls}`, calls)));
    // What is left: the Job, or its twin, or both.
    expect(await twins(other)).toHaveLength(3);
    expect((await other.list('Job')).map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['job-0', 'job-1', 'job-2', 'job-4']),
    );
    expect(await other.find('Job/job-3')).toBeNull();

    await startReroll({ cluster: sharedCluster(), namespaces: [other] });
    await eventually(async () => (await twins(other)).length === 0);

    const after = await Promise.all(STEPS.map((_, calls) => other.get(`Job/job-${calls}`)));
    const renewed = after.map(({ metadata }, calls) => metadata.uid !== before[calls]?.metadata.uid);
    expect(renewed).toEqual([false, false, true, true, true]);
    for (const object of after.filter((_, calls) => renewed[calls])) {
      expect(object.spec).toMatchObject({ backoffLimit: 3, suspend: false });
      expect(markerVariables(object)).toEqual({ app: { STAKATER_CM_CONFIGMAP: 'h' } });
      expect(object.spec.template.spec?.containers?.[0]?.env).toContainEqual({ name: 'OWN', value: 'kept' });
      expect(object.metadata.annotations).toMatchObject({ [KEYS.auto]: 'true', [RECORD_ANNOTATION]: RECORD });
      expect(object.metadata.labels).toEqual({ app: object.metadata.name });
    }
    expect(await other.list('Job')).toHaveLength(STEPS.length);
  });

  it('leaves what another one ends, and one that comes late with what it read before does nothing more', async () => {
    const other = await namespace(space.client);
    const before = await dies(other, 'again', 2);
    const client = new DyingClient(sharedCluster().kubeconfig, Number.POSITIVE_INFINITY);
    const settings = { client, strategy: 'env-vars', fieldManager: 'e2e', markerAnnotation: 'x' } as const;
    const way = new RecreateJob({ ...settings, patch });
    expect(await way.send(reloadOf(before))).toBe(true);
    const { uid } = (await other.get('Job/again')).metadata;
    expect(uid).not.toBe(before.metadata.uid);
    expect(await way.send(reloadOf(before))).toBe(true);
    expect((await other.get('Job/again')).metadata.uid).toBe(uid);
    expect((await other.list('Job')).map(({ metadata }) => metadata.name)).toEqual(['again']);
  });
});
