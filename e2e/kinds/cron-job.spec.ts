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
import {
  RolloutCount,
  inStep,
  markerText,
  markerVariables,
  recordOf,
  settled,
} from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

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
    await eventually(async () =>
      (await space.events('CronJob/report')).some(({ reason }) => reason === 'Reloaded'),
    );
  });

  it('creates a Job for each change, also for one that goes back to what was before', async () => {
    await recorded('flip');
    await change('flip', '2');
    await change('flip', '1');
    expect(await jobsOf('flip')).toHaveLength(2);
    await change('flip', '2');
    expect(await jobsOf('flip')).toHaveLength(3);
  });

  it('creates a Job also if an upgrade wrote the template right after, because that starts no pod', async () => {
    await recorded('upgraded');
    await space.apply(
      configMap('upgraded', { v: '2' }),
      cronJob('upgraded', auto(), usingEnvFrom('upgraded'), usingVolume('upgraded')),
    );
    await inStep(space, 'CronJob/upgraded', ['ConfigMap/upgraded']);
    await settled(reroll, space);
    expect(await jobsOf('upgraded')).toHaveLength(1);
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

  it('creates none when the workload did not ask, and none when only metadata changed', async () => {
    await space.apply(configMap('quiet', { v: '1' }), cronJob('quiet', usingEnvFrom('quiet')));
    await space.setData('ConfigMap/quiet', { v: '2' });
    await recorded('touched');
    await space.annotate('ConfigMap/touched', { note: 'x' });
    await settled(reroll, space);
    expect([...(await jobsOf('quiet')), ...(await jobsOf('touched'))]).toEqual([]);
  });

  it('creates one also if the name of the next Job was lost', async () => {
    await recorded('nameless');
    await space.annotate('CronJob/nameless', { [NEXT_JOB_ANNOTATION]: null });
    await change('nameless', '2');
    expect(await jobsOf('nameless')).toHaveLength(1);
  });

  it('creates one for a source that the CronJob names and does not use', async () => {
    await space.apply(configMap('named', { v: '1' }), cronJob('named', naming('named')));
    await inStep(space, 'CronJob/named', ['ConfigMap/named']);
    await change('named', '2');
    expect(await jobsOf('named')).toHaveLength(1);
  });
});

describe('after a worker died between the Job and the record', () => {
  /** As that leaves it: the Job of this name is there, the CronJob is as it was before. */
  async function died(name: string, meanwhile: () => Promise<unknown> = async () => null): Promise<void> {
    const { annotations = {} } = (await space.get(`CronJob/${name}`)).metadata;
    await change(name, '2');
    await Promise.all(reroll.workers.map((worker) => worker.stop()));
    const { [RECORD_ANNOTATION]: record = '', [NEXT_JOB_ANNOTATION]: next = '' } = annotations;
    await space.annotate(`CronJob/${name}`, { [RECORD_ANNOTATION]: record, [NEXT_JOB_ANNOTATION]: next });
    await meanwhile();
    await reroll.start('worker').ready();
  }

  it('the Job that is there counts, and no second is created', async () => {
    await recorded('died');
    await died('died');
    await inStep(space, 'CronJob/died', ['ConfigMap/died']);
    await settled(reroll, space);
    expect(await jobsOf('died')).toHaveLength(1);
  });

  it('another source that changed meanwhile gets a Job of its own, and the first no second', async () => {
    await space.apply(configMap('also', { v: '1' }));
    await recorded('died-too', cronJob('died-too', auto(), usingEnvFrom('died-too'), usingEnvFrom('also')));
    await died('died-too', () => space.setData('ConfigMap/also', { v: '2' }));
    await inStep(space, 'CronJob/died-too', ['ConfigMap/died-too', 'ConfigMap/also']);
    await settled(reroll, space);
    expect(await jobsOf('died-too')).toHaveLength(2);
    expect(Object.keys(recordOf(await space.get('CronJob/died-too')))).toHaveLength(2);
  });
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

it('with --cronjob-strategy=patch a change marks the template and creates no Job', async () => {
  const other = await namespace(space.client);
  const patching = await startReroll({
    cluster: sharedCluster(),
    namespaces: [other],
    workerFlags: ['--cronjob-strategy=patch', '--reload-strategy=annotations'],
  });
  await other.apply(configMap('cm', { v: '1' }), cronJob('patched', auto(), usingEnvFrom('cm')));
  await inStep(other, 'CronJob/patched', ['ConfigMap/cm']);
  const rollouts = await RolloutCount.from(other, 'CronJob/patched');
  await other.setData('ConfigMap/cm', { v: '2' });
  await inStep(other, 'CronJob/patched', ['ConfigMap/cm']);
  await settled(patching, other);
  expect(await rollouts.now()).toBe(1);
  expect(await other.list('Job')).toEqual([]);
  const { jobTemplate } = (await other.get('CronJob/patched')).spec as unknown as {
    jobTemplate: KubeObject;
  };
  expect(markerText(jobTemplate)).toContain('"name":"cm"');
});

it('with --ignored-workload-types=cronjobs,jobs neither is watched, and nothing is written to them', async () => {
  const other = await namespace(space.client);
  const flags = ['--ignored-workload-types=cronjobs,jobs'];
  const audit = new AuditLog(sharedCluster());
  const using = [auto(), usingEnvFrom('cm')];
  await other.apply(configMap('cm', { v: '1' }), cronJob('left', ...using), job('left', ...using));
  const before = await other.get('Job/left');
  const ignoring = await startReroll({ cluster: sharedCluster(), namespaces: [other], flags });
  await other.setData('ConfigMap/cm', { v: '2' });
  await settled(ignoring, other);
  for (const ref of ['CronJob/left', 'Job/left'])
    expect((await other.get(ref)).metadata.annotations).not.toHaveProperty([RECORD_ANNOTATION]);
  expect((await other.list('Job')).map(({ metadata }) => metadata.uid)).toEqual([before.metadata.uid]);
  const refs = ['CronJob/left', 'Job/left', 'Deployment/e2e-control'] as const;
  const keys = refs.map((ref) => keyIn(other, ref));
  expect([...(await ignoring.catalog.workloads(keys)).keys()]).toEqual([
    keyIn(other, 'Deployment/e2e-control'),
  ]);
  // A stream is in the log once it has ended.
  await ignoring.stop();
  const asked = audit.of('reroll-').filter(({ objectRef }) => objectRef?.namespace === other.name);
  const resources = new Set(asked.map(({ objectRef }) => objectRef?.resource));
  expect(resources).toContain('deployments');
  expect(resources).not.toContain('cronjobs');
  // But for what a recreation before this run may have left.
  const ofJobs = asked.filter(({ objectRef }) => objectRef?.resource === 'jobs');
  for (const { requestURI } of ofJobs)
    expect(decodeURIComponent(requestURI)).toContain(`labelSelector=${PENDING_JOB_LABEL}`);
});
