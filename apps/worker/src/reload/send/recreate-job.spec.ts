import { pendingJobName } from '@reroll/core/reload/pending-job';
import { describe, expect, it } from 'vitest';
import { NotYetError } from '../../job-error.ts';
import { refusal } from '../../testing/fake-api.ts';
import { all, answers, Scene, type Change } from '../../testing/scene.ts';

const PENDING = pendingJobName({ name: 'w', uid: 'uid-w' });
const job: Change = (scene) => void (scene.kind = 'Job');
const MINUTE = 60_000;

/** What a job asks of the API server, and for how long it then gives its slot back. */
async function askedAndWaits(scene: Scene): Promise<{ asked: string[]; waits: number }> {
  const asked: string[] = [];
  scene.api.before = (method, path) => void asked.push(`${method} ${path.slice(path.lastIndexOf('/') + 1)}`);
  const error = await scene.run().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NotYetError);
  return { asked, waits: (error as NotYetError).wait };
}

const withFinalizer: Change = (scene) =>
  void (scene.metadata = { finalizers: ['example.com/kept'] } as Scene['metadata']);

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

  it('is reloaded once if another worker recreates it at the same time', async () => {
    const scene = new Scene(job);
    const outcomes = await Promise.all([scene.run(), scene.run()]);
    expect(outcomes.map(({ reason }) => reason).toSorted()).toEqual(['InStep', 'JobRecreated']);
    expect(scene.api.writes.filter((write) => write === 'POST w')).toHaveLength(1);
  });

  it('is not created from a pending Job once a new one is there', async () => {
    const scene = new Scene(job);
    scene.api.before = (method, path) => {
      if (method === 'DELETE' && path.endsWith(PENDING)) throw refusal(503);
    };
    await expect(scene.run()).rejects.toThrow();
    const posted: string[] = [];
    scene.api.before = (method, path) => {
      if (method === 'POST') posted.push(path);
    };
    scene.job = `Job/ns/${PENDING}`;
    expect(await scene.run()).toMatchObject({ state: 'unchanged', reason: 'RecreationFinished' });
    expect(posted).toEqual([]);
  });

  it('is not reported again once a worker that was woken for the pending Job has finished it', async () => {
    const scene = new Scene(job);
    scene.api.before = (method, path) => {
      if (method === 'DELETE' && path.endsWith('/w')) throw refusal(503);
    };
    await expect(scene.run()).rejects.toThrow();
    scene.api.before = () => undefined;
    scene.job = `Job/ns/${PENDING}`;
    expect(await scene.run()).toMatchObject({ reason: 'RecreationFinished' });
    scene.job = undefined;
    expect(await scene.run()).toMatchObject({ state: 'unchanged', reason: 'InStep' });
    expect(scene.api.writes.filter((write) => write === 'POST w')).toHaveLength(1);
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

  it('is created at once if its finalizers are removed at once', async () => {
    const scene = new Scene(all(job, withFinalizer));
    scene.api.before = (method, path) => {
      if (method === 'GET' && path === scene.path && scene.api.writes.includes('DELETE w'))
        scene.api.objects.delete(path);
    };
    expect(await scene.run()).toMatchObject({ reason: 'JobRecreated' });
  });

  it('is left to the job of the pending Job while finalizers keep it, at intervals that grow', async () => {
    const scene = new Scene(all(job, withFinalizer, (of) => void (of.api.date = 10 * MINUTE)));
    expect((await askedAndWaits(scene)).waits).toBe(1_000);
    const writes = [...scene.api.writes];
    expect(await scene.run()).toMatchObject({ state: 'unchanged', reason: 'WorkloadGone' });
    scene.job = `Job/ns/${PENDING}`;
    for (const [minute, waits] of [
      [12, 1 * MINUTE],
      [30, 5 * MINUTE],
    ] as const) {
      scene.api.date = minute * MINUTE;
      expect(await askedAndWaits(scene)).toEqual({
        asked: [`GET ${PENDING}`, 'GET w', 'POST w', 'GET w'],
        waits,
      });
    }
    expect(scene.api.writes).toEqual(writes);
    scene.api.objects.delete(scene.path);
    expect(await scene.run()).toMatchObject({ reason: 'RecreationFinished' });
    expect(scene.api.writes.slice(writes.length)).toEqual(['POST w', `DELETE ${PENDING}`]);
  });

  it('is read and deleted five times in one attempt if it keeps changing', async () => {
    const scene = new Scene(job);
    let deletions = 0;
    scene.api.before = (method, path) => {
      if (method !== 'DELETE') return;
      deletions += 1;
      const metadata = { ...scene.object.metadata, resourceVersion: `${1_000 + deletions}` };
      scene.api.objects.set(path, { ...scene.object, metadata });
    };
    await expect(scene.run()).rejects.toThrow('Conflicting');
    expect(deletions).toBe(5);
  });
});
