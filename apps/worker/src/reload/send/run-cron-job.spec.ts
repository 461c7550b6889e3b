import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { NEXT_JOB_ANNOTATION } from '@reroll/core/reload/job-of-cron-job';
import { REQUEST_ANNOTATION } from '@reroll/core/reload/request';
import type { KubeObject } from '@reroll/kube/objects';
import type { CronJobObject } from '@reroll/kube/workloads/cron-job';
import { expect, it } from 'vitest';
import { recordOf, Scene } from '../../testing/scene.ts';

/** Of a Job that was created for this data. */
function jobMetadata(data: string): KubeObject['metadata'] {
  return {
    name: 'w-abc',
    namespace: 'ns',
    uid: 'uid-abc',
    resourceVersion: '5',
    ownerReferences: [{ uid: 'uid-w' }],
    annotations: { [RECORD_ANNOTATION]: recordOf(data) },
  };
}

it('a Job of a reload that was cut off stands for the data that it was created for, and no other', async () => {
  const scene = new Scene((of) => {
    of.kind = 'CronJob';
    of.annotations[NEXT_JOB_ANNOTATION] = 'abc';
  });
  scene.api.objects.set('/apis/batch/v1/namespaces/ns/jobs/w-abc', { metadata: jobMetadata('between') });
  const { state } = await scene.run();
  expect(state).toBe('reloaded');
  expect(scene.api.writes).toEqual(['PATCH w', expect.stringMatching(/^POST w-/u), 'PATCH w']);
  expect(scene.object.metadata.annotations?.[RECORD_ANNOTATION]).toBe(recordOf('new'));
});

it('such a Job is found too when the source is back at what is recorded, and another one runs with that', async () => {
  const scene = new Scene((of) => {
    of.kind = 'CronJob';
    of.annotations[NEXT_JOB_ANNOTATION] = 'abc';
    of.record = recordOf('new');
  });
  scene.api.objects.set('/apis/batch/v1/namespaces/ns/jobs/w-abc', { metadata: jobMetadata('between') });
  const { state } = await scene.run();
  expect(state).toBe('reloaded');
  expect(scene.api.writes).toEqual(['PATCH w', expect.stringMatching(/^POST w-/u), 'PATCH w']);
  expect(scene.object.metadata.annotations?.[RECORD_ANNOTATION]).toBe(recordOf('new'));
});

it('a CronJob with nothing to reload for and no such Job is left as it is', async () => {
  const scene = new Scene((of) => {
    of.kind = 'CronJob';
    of.annotations[NEXT_JOB_ANNOTATION] = 'abc';
    of.record = recordOf('new');
  });
  expect((await scene.run()).state).toBe('unchanged');
  expect(scene.api.writes).toEqual([]);
});

it('of such a Job, nothing but a record and the id of a request gets to the CronJob', async () => {
  const scene = new Scene((of) => {
    of.kind = 'CronJob';
    of.annotations[NEXT_JOB_ANNOTATION] = 'abc';
    of.record = recordOf('new');
  });
  const forged = { [RECORD_ANNOTATION]: 'a text', [REQUEST_ANNOTATION]: 'another text' };
  const metadata = { ...jobMetadata('between'), annotations: forged };
  const spec = { template: { metadata: { annotations: forged } } };
  scene.api.objects.set('/apis/batch/v1/namespaces/ns/jobs/w-abc', { metadata, spec } as KubeObject);
  await scene.run();
  const { annotations = {} } = scene.object.metadata;
  expect(annotations[NEXT_JOB_ANNOTATION]).not.toBe('abc');
  expect(annotations[RECORD_ANNOTATION]).toBe(recordOf('new'));
  expect(annotations).not.toHaveProperty([REQUEST_ANNOTATION]);
});

it('a CronJob whose Jobs are Indexed gets a Job with a name that leaves room for the index', async () => {
  const scene = new Scene((of) => {
    of.kind = 'CronJob';
    of.name = 'w'.repeat(52);
    of.annotations[NEXT_JOB_ANNOTATION] = 'a1b2c3d4e5';
  });
  const { spec } = scene.object as CronJobObject;
  Object.assign(spec?.jobTemplate?.spec ?? {}, { completionMode: 'Indexed', completions: 100 });
  await scene.run();
  expect(scene.api.writes).toContain(`POST ${'w'.repeat(49)}-a1b2c3d4e5`);
});
