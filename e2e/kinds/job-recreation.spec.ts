import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { auto, configMap, finishing, job, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeObject, type Space } from '../support/kube.ts';
import {
  RECORD,
  STEPS,
  completed,
  diesBefore,
  finish,
  recreation,
  reloadOf,
  pendingJobs,
  waitingJob,
} from '../support/objects/recreation.ts';
import { startReroll } from '../support/reroll.ts';
import { change, inStep, markerVariables } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

let space: Space;

beforeAll(async () => {
  space = await namespace(connect(sharedCluster()));
});

function expectRecreated(after: KubeObject, before: KubeObject | undefined): void {
  expect(after.metadata.uid).not.toBe(before?.metadata.uid);
  expect(after.spec).toMatchObject({ backoffLimit: 3, suspend: false });
  expect(markerVariables(after)).toEqual({ app: { STAKATER_CM_CONFIGMAP: 'h' } });
  expect(after.spec.template.spec?.containers?.[0]?.env).toContainEqual({ name: 'OWN', value: 'kept' });
  expect(after.metadata.annotations).toMatchObject({ [KEYS.auto]: 'true', [RECORD_ANNOTATION]: RECORD });
  expect(after.metadata.labels).toEqual({ app: after.metadata.name });
}

async function finished(where: Space, name: string): Promise<KubeObject> {
  await eventually(async () => (await pendingJobs(where)).length === 0);
  return await where.get(`Job/${name}`);
}

describe('a worker that dies in the middle of a recreation', () => {
  it('loses nothing and doubles nothing, whichever call was its last', async () => {
    const before = await Promise.all(STEPS.map((step, index) => diesBefore(space, `job-${index}`, step)));
    // What is left: the Job, or its pending Job, or both.
    expect(await pendingJobs(space)).toHaveLength(3);
    expect((await space.list('Job')).map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['job-0', 'job-1', 'job-2', 'job-4']),
    );
    expect(await space.find('Job/job-3')).toBeNull();

    const cluster = sharedCluster();
    const flags = ['--recreate-finished-jobs'];
    const reroll = await startReroll({
      cluster,
      namespaces: [space],
      flags,
      sweepInterval: '1s',
      workers: 0,
    });
    // What the watcher has enqueued is lost with Redis, so the resync has to make up for it.
    await eventually(async () => (await reroll.queues.reloads.getJobCountByTypes('wait', 'delayed')) >= 3);
    await reroll.queues.reloads.obliterate({ force: true });
    await reroll.start('worker').ready();
    await eventually(async () => (await pendingJobs(space)).length === 0);

    const after = await Promise.all(STEPS.map((_, index) => space.get(`Job/job-${index}`)));
    const renewed = after.map(({ metadata }, index) => metadata.uid !== before[index]?.metadata.uid);
    expect(renewed).toEqual([false, false, true, true, true]);
    for (const [index, object] of after.entries()) if (renewed[index]) expectRecreated(object, before[index]);
    expect(await space.list('Job')).toHaveLength(STEPS.length);
    await isRunAgain('done');
  });

  /** With --recreate-finished-jobs a Job that is finished is run again, as by stakater/Reloader. */
  async function isRunAgain(name: string): Promise<void> {
    await space.apply(configMap(name, { v: '1' }), job(name, auto(), usingEnvFrom(name), finishing()));
    await inStep(space, `Job/${name}`, [`ConfigMap/${name}`]);
    const before = await completed(space, name);
    await change(space, `ConfigMap/${name}`, '2', [`Job/${name}`]);
    expect((await completed(space, name)).metadata.uid).not.toBe(before.metadata.uid);
  }

  it('leaves what another one ends, and one that comes late with what it read before does nothing more', async () => {
    const other = await namespace(space.client);
    const before = await diesBefore(other, 'again', 'deletion');
    const way = recreation();
    expect(await way.send(reloadOf(before))).toEqual({ generation: 1 });
    const { uid } = (await other.get('Job/again')).metadata;
    expect(uid).not.toBe(before.metadata.uid);
    expect(await way.send(reloadOf(before))).toBe(false);
    expect((await other.get('Job/again')).metadata.uid).toBe(uid);
    expect((await other.list('Job')).map(({ metadata }) => metadata.name)).toEqual(['again']);
  });
});

describe('a Job that finishes', () => {
  it('between the read and the deletion stays as it is, and its pending Job goes', async () => {
    const other = await namespace(space.client);
    const before = await waitingJob(other, 'quick');
    const finishing = recreation((step) => (step === 'deletion' ? finish(other, 'quick') : undefined));
    expect(await finishing.send(reloadOf(before))).toBe(false);
    expect((await other.list('Job')).map(({ metadata }) => metadata.uid)).toEqual([before.metadata.uid]);
  });

  it('there is recreated all the same with --recreate-finished-jobs, and if it only changed', async () => {
    const other = await namespace(space.client);
    const [again, changed] = await Promise.all([waitingJob(other, 'again'), waitingJob(other, 'changed')]);
    const before = (step: string) => (step === 'deletion' ? finish(other, 'again') : undefined);
    expect(await recreation(before, true).send(reloadOf(again))).toEqual({ generation: 1 });
    const touch = (step: string) =>
      step === 'deletion' ? other.annotate('Job/changed', { note: 'new' }) : undefined;
    expect(await recreation(touch).send(reloadOf(changed))).toEqual({ generation: 1 });
    expectRecreated(await other.get('Job/again'), again);
    expectRecreated(await other.get('Job/changed'), changed);
    expect(await other.list('Job')).toHaveLength(2);
  });
});

describe('what is left of a recreation is finished, though no Job would be recreated now', () => {
  it('after a dry run, which reports it and writes nothing, with --webhook-url and --ignored-workload-types=jobs; but not if the Job is finished by then', async () => {
    const other = await namespace(space.client);
    const options = { cluster: sharedCluster(), namespaces: [other] };
    const before = await diesBefore(other, 'gone', 'creation');
    const late = await diesBefore(other, 'late', 'deletion');
    await finish(other, 'late');
    const left = (await other.list('Job')).map(({ metadata }) => metadata.uid);

    const dry = await startReroll({ ...options, workerFlags: ['--dry-run'] });
    await eventually(async () => {
      const outcomes = await dry.outcomes(other);
      expect(new Set(outcomes.map(({ workload }) => workload)).size).toBe(2);
      return outcomes.every(({ reason }) => reason === 'JobTwin');
    });
    expect(dry.logs()).toContain('a recreation of a Job is half done');
    await dry.stop();
    expect((await other.list('Job')).map(({ metadata }) => metadata.uid)).toEqual(left);

    // Under these neither would any Job be recreated, nor anything else be known of Jobs.
    const flags = ['--webhook-url=http://127.0.0.1:9/changed', '--ignored-workload-types=jobs'];
    const reroll = await startReroll({ ...options, flags });
    expectRecreated(await finished(other, 'gone'), before);
    expect((await other.get('Job/late')).metadata.uid).toBe(late.metadata.uid);
    expect(await other.list('Job')).toHaveLength(2);
    await reroll.idle();
    expect(await reroll.catalog.workloads([`Job/${other.name}/late`])).toEqual(new Map());
  });
});
