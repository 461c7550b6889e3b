import { beforeAll, describe, expect, it } from 'vitest';
import { NEXT_JOB_ANNOTATION } from '@reroll/core/reload/job-of-cron-job';
import { PENDING_JOB_LABEL } from '@reroll/core/reload/pending-job';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { AuditLog } from '../support/audit.ts';
import {
  auto,
  configMap,
  cronJob,
  job,
  naming,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeObject, type Manifest, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, markerText, markerVariables, settled } from '../support/objects/rollouts.ts';

let space: Space;
let reroll: Reroll;

interface CronJobManifest extends Manifest {
  readonly spec: { readonly jobTemplate: object };
}

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space] });
});

async function jobsOf(name: string): Promise<KubeObject[]> {
  const { uid } = (await space.get(`CronJob/${name}`)).metadata;
  const jobs = await space.list('Job');
  return jobs.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
}

async function reasonsOf(name: string): Promise<string[]> {
  return (await reroll.outcomes(space, `CronJob/${name}`)).map(({ reason }) => reason);
}

/** A CronJob that is recorded, with one source of its own name. */
async function recorded(
  name: string,
  manifest: Manifest = cronJob(name, auto(), usingEnvFrom(name)),
): Promise<void> {
  await space.apply(configMap(name, { v: '1' }), manifest);
  await inStep(space, `CronJob/${name}`, [`ConfigMap/${name}`]);
}

async function change(name: string, v: string): Promise<void> {
  await space.setData(`ConfigMap/${name}`, { v });
  await inStep(space, `CronJob/${name}`, [`ConfigMap/${name}`]);
  await settled(reroll, space);
}

describe('a change of what a CronJob uses', () => {
  it('creates one Job of its template, as stakater/Reloader does, and leaves the template as it is', async () => {
    const plain = cronJob('report', auto(), usingEnvFrom('report')) as CronJobManifest;
    const metadata = { labels: { team: 'shop' }, annotations: { note: 'kept' } };
    const jobTemplate = { ...plain.spec.jobTemplate, metadata };
    await recorded('report', { ...plain, spec: { ...plain.spec, jobTemplate } } as Manifest);
    const before = await space.get('CronJob/report');
    expect(await jobsOf('report')).toEqual([]);

    await change('report', '2');

    const after = await space.get('CronJob/report');
    const [job, ...others] = await jobsOf('report');
    expect(others).toEqual([]);
    expect(after.spec).toEqual(before.spec);
    expect(job?.metadata.name).toBe(`report-${before.metadata.annotations?.[NEXT_JOB_ANNOTATION]}`);
    expect(job?.metadata.labels).toEqual({ team: 'shop' });
    expect(job?.metadata.annotations).toMatchObject({
      'cronjob.kubernetes.io/instantiate': 'manual',
      note: 'kept',
      [RECORD_ANNOTATION]: after.metadata.annotations?.[RECORD_ANNOTATION],
    });
    expect(job?.metadata.ownerReferences).toMatchObject([
      { kind: 'CronJob', uid: before.metadata.uid, controller: true },
    ]);
    expect(Object.keys(markerVariables(job as KubeObject).app ?? {})).toEqual(['STAKATER_REPORT_CONFIGMAP']);
    expect(await reasonsOf('report')).toContain('JobCreated');
    await space.event('CronJob/report', 'Reloaded');
  });

  it('creates a Job for each change: one that goes back to what was before, one that an upgrade brought with another template, one of a source that is only named, one whose name was lost', async () => {
    await recorded('flip');
    await recorded('named', cronJob('named', naming('named')));
    await recorded('upgraded');
    await recorded('nameless');
    await space.annotate('CronJob/nameless', { [NEXT_JOB_ANNOTATION]: null });
    await space.apply(
      configMap('upgraded', { v: '2' }),
      cronJob('upgraded', auto(), usingEnvFrom('upgraded'), usingVolume('upgraded')),
    );
    await inStep(space, 'CronJob/upgraded', ['ConfigMap/upgraded']);
    for (const name of ['named', 'nameless', 'flip']) await change(name, '2');
    for (const v of ['1', '2']) await change('flip', v);
    const names = ['upgraded', 'named', 'nameless', 'flip'];
    const jobs = await Promise.all(names.map(jobsOf));
    expect(jobs.map(({ length }) => length)).toEqual([1, 1, 1, 3]);
  });

  it('creates none for a suspended CronJob and records it, so that none comes when it is resumed', async () => {
    const plain = cronJob('asleep', auto(), usingEnvFrom('asleep')) as CronJobManifest;
    await recorded('asleep', { ...plain, spec: { ...plain.spec, suspend: true } } as Manifest);
    await change('asleep', '2');
    expect(await reasonsOf('asleep')).toContain('CronJobSuspended');
    await space.patch('CronJob/asleep', { spec: { suspend: false } });
    await settled(reroll, space);
    expect(await jobsOf('asleep')).toEqual([]);
    await change('asleep', '3');
    expect(await jobsOf('asleep')).toHaveLength(1);
  });
});

it('a worker died between the Job and the record: the Job that is there counts, and what changed meanwhile gets one of its own', async () => {
  await space.apply(configMap('also', { v: '1' }));
  await recorded('died', cronJob('died', auto(), usingEnvFrom('died'), usingEnvFrom('also')));
  const { annotations = {} } = (await space.get('CronJob/died')).metadata;
  await change('died', '2');
  await reroll.replace('worker', async () => {
    // As its death leaves it: the Job of this name is there, the CronJob is as it was before.
    const { [RECORD_ANNOTATION]: record = '', [NEXT_JOB_ANNOTATION]: next = '' } = annotations;
    await space.annotate('CronJob/died', { [RECORD_ANNOTATION]: record, [NEXT_JOB_ANNOTATION]: next });
  });
  await inStep(space, 'CronJob/died', ['ConfigMap/died']);
  await settled(reroll, space);
  expect(await jobsOf('died')).toHaveLength(1);
  await space.setData('ConfigMap/also', { v: '2' });
  await inStep(space, 'CronJob/died', ['ConfigMap/died', 'ConfigMap/also']);
  await settled(reroll, space);
  expect(await jobsOf('died')).toHaveLength(2);
});

it('a Job of the name that is not of this CronJob is left alone, and the next has another name', async () => {
  await recorded('taken');
  const next = (await space.get('CronJob/taken')).metadata.annotations?.[NEXT_JOB_ANNOTATION] ?? '';
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'x' }] } };
  const foreign = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: `taken-${next}` } };
  await space.apply({ ...foreign, spec: { suspend: true, template } } as Manifest);
  await change('taken', '2');
  expect(await jobsOf('taken')).toHaveLength(1);
  expect(await space.find(`Job/taken-${next}`)).not.toBeNull();
});

it('with --cronjob-strategy=patch a change marks the template and creates no Job; with --ignored-workload-types=jobs no Job is watched or written', async () => {
  const cluster = sharedCluster();
  const other = await namespace(space.client);
  const audit = new AuditLog(cluster);
  const using = [auto(), usingEnvFrom('cm')];
  await other.apply(configMap('cm', { v: '1' }), cronJob('patched', ...using), job('left', ...using));
  const before = await other.get('Job/left');
  const patching = await startReroll({
    cluster,
    namespaces: [other],
    flags: ['--ignored-workload-types=jobs'],
    workerFlags: ['--cronjob-strategy=patch', '--reload-strategy=annotations'],
  });
  await inStep(other, 'CronJob/patched', ['ConfigMap/cm']);
  const rollouts = await RolloutCount.from(other, 'CronJob/patched');
  await other.setData('ConfigMap/cm', { v: '2' });
  const patched = await inStep(other, 'CronJob/patched', ['ConfigMap/cm']);
  await settled(patching, other);
  expect(await rollouts.now()).toBe(1);
  const { jobTemplate } = patched.spec as unknown as { jobTemplate: KubeObject };
  expect(markerText(jobTemplate)).toContain('"name":"cm"');

  const [left, ...others] = await other.list('Job');
  expect(others).toEqual([]);
  expect(left?.metadata.uid).toBe(before.metadata.uid);
  expect(left?.metadata.annotations).not.toHaveProperty([RECORD_ANNOTATION]);
  const keys = (['Job/left', 'CronJob/patched'] as const).map((ref) => keyIn(other, ref));
  expect([...(await patching.catalog.workloads(keys)).keys()]).toEqual(keys.slice(1));
  // A stream is in the log once it has ended.
  await patching.stop();
  const asked = audit.of('reroll-').filter(({ objectRef }) => objectRef?.namespace === other.name);
  expect(asked.map(({ objectRef }) => objectRef?.resource)).toContain('cronjobs');
  // But for what a recreation before this run may have left.
  for (const { requestURI } of asked.filter(({ objectRef }) => objectRef?.resource === 'jobs'))
    expect(decodeURIComponent(requestURI)).toContain(`labelSelector=${PENDING_JOB_LABEL}`);
});
