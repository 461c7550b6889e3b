import { beforeAll, describe, expect, it } from 'vitest';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { auto, configMap, cronJob, finishing, job, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeObject, type Manifest, type Space } from '../support/kube.ts';
import { refuseCreatedJobs } from '../support/objects/policy.ts';
import { completed, pendingJobs } from '../support/objects/recreation.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { inStep, markerVariables, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

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
    expect(await pendingJobs(space)).toEqual([]);
    expect((await reasonsOf('plain')).filter((reason) => reason === 'JobRecreated')).toHaveLength(1);
  });

  it('does so for each change, also for one that goes back to what was before', async () => {
    const uids = [await recorded('flip'), await change('flip', '2'), await change('flip', '1')];
    expect(new Set(uids.map(({ metadata }) => metadata.uid)).size).toBe(3);
    expect((await reasonsOf('flip')).filter((reason) => reason === 'JobRecreated')).toHaveLength(2);
  });

  it('does so for an Indexed Job with the longest name that it can have', async () => {
    const name = 'x'.repeat(63 - '-9'.length);
    const { spec, ...rest } = job(name, auto(), usingEnvFrom('indexed')) as Manifest & { spec: object };
    const indexed = { ...rest, spec: { ...spec, completionMode: 'Indexed', completions: 10 } };
    await space.apply(configMap('indexed', { v: '1' }), indexed);
    const before = await inStep(space, `Job/${name}`, ['ConfigMap/indexed']);
    await space.setData('ConfigMap/indexed', { v: '2' });
    const after = await inStep(space, `Job/${name}`, ['ConfigMap/indexed']);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    await settled(reroll, space);
    expect(await pendingJobs(space)).toEqual([]);
  });

  it('leaves a finished Job alone, and a Job of a CronJob', async () => {
    const [, owner] = await space.apply(configMap('left', { v: '1' }), cronJob('owner'));
    const { name, uid } = (owner as KubeObject).metadata;
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true }];
    const plain = job('owned', auto(), usingEnvFrom('left'));
    const owned = { ...plain, metadata: { ...plain.metadata, ownerReferences } } as Manifest;
    await space.apply(owned, job('done', auto(), usingEnvFrom('left'), finishing()));
    await completed(space, 'done');
    await settled(reroll, space);
    const uids = async (): Promise<string[]> =>
      await Promise.all(['done', 'owned'].map(async (job) => (await space.get(`Job/${job}`)).metadata.uid));
    const before = await uids();
    await space.setData('ConfigMap/left', { v: '2' });
    await eventually(async () => {
      const change = (await reroll.changes(space, 'ConfigMap/left')).at(-1);
      const reasons = change?.leftAlone.map(({ workload, reason }) => [workload.split('/')[2], reason]);
      expect(Object.fromEntries(reasons ?? [])).toEqual({ done: 'JobFinished', owned: 'JobOfCronJob' });
      return true;
    });
    await settled(reroll, space);
    expect(await uids()).toEqual(before);
    const { annotations } = (await space.get('Job/owned')).metadata;
    expect(annotations).not.toHaveProperty([RECORD_ANNOTATION]);
  });

  it('that the API server would refuse leaves the Job as it is, until it is allowed', async () => {
    const before = await recorded('refused');
    const refusal = await refuseCreatedJobs(space, { workloads: ['refused'], reason: 'Invalid' });
    await space.setData('ConfigMap/refused', { v: '2' });
    await eventually(async () => (await reasonsOf('refused')).includes('Invalid'));
    expect((await space.get('Job/refused')).metadata.uid).toBe(before.metadata.uid);
    expect(await pendingJobs(space)).toEqual([]);
    await refusal.end();
    const after = await inStep(space, 'Job/refused', ['ConfigMap/refused'], { within: 60_000 });
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
  });
});
