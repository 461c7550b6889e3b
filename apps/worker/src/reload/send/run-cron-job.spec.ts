import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { NEXT_JOB_ANNOTATION } from '@reroll/core/reload/job-of-cron-job';
import { expect, it } from 'vitest';
import { recordOf, Scene } from '../../testing/scene.ts';

it('a Job of a reload that was cut off stands for the data that it was created for, and no other', async () => {
  const scene = new Scene((of) => {
    of.kind = 'CronJob';
    of.annotations[NEXT_JOB_ANNOTATION] = 'abc';
  });
  const metadata = {
    name: 'w-abc',
    namespace: 'ns',
    uid: 'uid-abc',
    resourceVersion: '5',
    ownerReferences: [{ uid: 'uid-w' }],
    annotations: { [RECORD_ANNOTATION]: recordOf('between') },
  };
  scene.api.objects.set('/apis/batch/v1/namespaces/ns/jobs/w-abc', { metadata });
  const { state } = await scene.run();
  expect(state).toBe('reloaded');
  expect(scene.api.writes).toEqual(['PATCH w', expect.stringMatching(/^POST w-/u), 'PATCH w']);
  expect(scene.object.metadata.annotations?.[RECORD_ANNOTATION]).toBe(recordOf('new'));
});
