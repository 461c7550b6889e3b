import { pendingJobName } from '@reroll/core/reload/pending-job';
import { describe, expect, it } from 'vitest';
import { refusal } from '../../testing/fake-api.ts';
import { all, answers, Scene, type Change } from '../../testing/scene.ts';

const PENDING = pendingJobName('w', 'uid-w');
const job: Change = (scene) => void (scene.kind = 'Job');

describe('a Job that is created again', () => {
  it('is deleted only once its pending Job is there, which is deleted last', async () => {
    const scene = new Scene(job);
    await scene.run();
    expect(scene.api.writes).toEqual([`POST ${PENDING}`, 'DELETE w', 'POST w', `DELETE ${PENDING}`]);
  });

  it('is left alone if the API server would refuse the new one', async () => {
    const scene = new Scene(all(job, answers('POST', refusal(422, { field: 'spec.x' }))));
    await scene.run().catch(() => undefined);
    expect(scene.api.writes).toEqual([]);
  });

  it('stays if it finishes before it is deleted', async () => {
    const scene = new Scene(job);
    const { object, path } = scene;
    const metadata = { ...object.metadata, resourceVersion: '31' };
    const status = { conditions: [{ type: 'Complete', status: 'True' }] };
    scene.api.before = (method, at) => {
      if (method === 'POST' && at.endsWith(PENDING))
        scene.api.objects.set(path, { ...object, metadata, status } as typeof object);
    };
    expect(await scene.run()).toMatchObject({ state: 'unchanged', reason: 'JobFinished' });
    expect([...scene.api.objects.keys()].filter((each) => each.includes('/jobs/'))).toEqual([path]);
    expect(scene.object.metadata.uid).toBe('uid-w');
  });
});
