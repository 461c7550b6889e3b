import { beforeAll, describe, expect, it } from 'vitest';
import type { Change, ChangeWorkload } from '@reroll/shared/api/changes';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { AdminApi } from '../support/admin/admin-api.ts';
import {
  annotated,
  auto,
  configMap,
  deployment,
  replicas,
  secret,
  type Modifier,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { EventReader } from '../support/admin/event-reader.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { refuseUpdates } from '../support/objects/policy.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { hashOf, inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let reroll: Reroll;
let api: AdminApi;
let changes = 0;

/** Its pods fit on no node, so they never become ready. */
function homeless(): Modifier {
  return ({ spec }) => {
    Object.assign(spec, { progressDeadlineSeconds: 1 });
    spec.template.spec.nodeSelector = { e2e: 'nowhere' };
  };
}

async function changeOf(source: string): Promise<string> {
  const before = await newest(source);
  changes += 1;
  await space.setData(source, { v: `change ${changes}` });
  return await eventually(async () => {
    const id = await newest(source);
    return id !== before && id;
  });
}

async function newest(source: string, by = api): Promise<string | undefined> {
  const key = source.replace('/', `/${space.name}/`);
  const { items } = await by.call('listChanges', { query: { source: key, limit: 1 } });
  return items[0]?.id;
}

async function one(id: string): Promise<Change> {
  return await api.call('getChange', { params: { id } });
}

async function workloadOf(id: string, name: string): Promise<ChangeWorkload | undefined> {
  return (await one(id)).workloads.find(({ workload }) => workload.name === name);
}

/** The workload at the change, once it is in that state. */
async function reaches(id: string, name: string, state: ChangeWorkload['state']): Promise<ChangeWorkload> {
  return await eventually(async () => {
    const found = await workloadOf(id, name);
    expect(found).toMatchObject({ state });
    return found;
  });
}

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.applyAll([
    ...['rolls', 'pauses', 'sticks', 'waits'].map((name) => configMap(name, { v: '0' })),
    secret('fails', { v: '0' }),
  ]);
  await space.applyAll([
    deployment('rolls', auto(), replicas(1), usingEnvFrom('rolls')),
    deployment('ignores', usingEnvFrom('rolls')),
    deployment(
      'pauses',
      auto(),
      annotated({ [KEYS.pausePeriod]: '1h' }),
      replicas(1),
      usingEnvFrom('pauses'),
    ),
    deployment('sticks', auto(), replicas(1), homeless(), usingEnvFrom('sticks')),
    deployment('fails', auto(), usingEnvFrom('Secret/fails')),
    deployment('waits', auto(), usingVolume('waits')),
  ]);
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    admins: 1,
    workerFlags: ['--attempts=2'],
  });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin);
  await eventually(async () => (await api.call('getStatus')).processes.some(({ app }) => app === 'worker'));
  const adopted = ['rolls', 'pauses', 'sticks', 'waits'].map((name) =>
    inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]),
  );
  await Promise.all([...adopted, inStep(space, 'Deployment/fails', ['Secret/fails'])]);
});

describe('a change', () => {
  it('is followed from the watcher to "rolled out"', async () => {
    const events = await EventReader.open(api);
    const id = await changeOf('ConfigMap/rolls');
    const rolled = await reaches(id, 'rolls', 'rolledOut');
    expect(rolled).toMatchObject({
      verdict: 'reload',
      reason: 'AutoReload',
      outcome: 'Reloaded',
      sources: { 'ConfigMap/rolls': 'Roll' },
      attempts: { made: 1 },
      error: null,
      rollout: { state: 'complete' },
    });
    const change = await one(id);
    expect(change).toMatchObject({
      source: { kind: 'ConfigMap', namespace: space.name, name: 'rolls' },
      cause: 'updated',
      request: null,
    });
    expect(change.from).not.toBe(change.to);
    expect(await workloadOf(id, 'ignores')).toMatchObject({
      verdict: 'skip',
      reason: 'NotAnnotated',
      state: 'skipped',
    });
    const { items } = await api.call('listChanges', {
      query: { workload: `Deployment/${space.name}/rolls` },
    });
    expect(items.find((item) => item.id === id)?.states).toEqual({ rolledOut: 1, skipped: 1 });
    await eventually(() => {
      expect(events.named('change').map(({ data }) => data.id)).toContain(id);
      expect(events.named('outcome').map(({ data }) => data)).toContainEqual(
        expect.objectContaining({ change: id, reason: 'Reloaded', rolled: ['ConfigMap/rolls'] }),
      );
      expect(events.named('rollout').map(({ data }) => data)).toContainEqual(
        expect.objectContaining({
          workload: { kind: 'Deployment', namespace: space.name, name: 'rolls' },
          rollout: expect.objectContaining({ state: 'complete' }),
        }),
      );
      return true;
    });
  });

  it('whose pods never become ready is stuck, with the conditions that say so', async () => {
    const id = await changeOf('ConfigMap/sticks');
    const stuck = await reaches(id, 'sticks', 'stuck');
    expect(stuck.rollout).toMatchObject({ state: 'stuck', code: 'ProgressDeadlineExceeded' });
    expect(stuck.rollout?.conditions).toContainEqual({
      type: 'Progressing',
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
    });
    expect(stuck.endedAt).toBeNull();
  });

  it('that the API server refuses has failed, with attempts and the code of the error', async () => {
    await refuseUpdates(space, { workloads: ['fails'], reason: 'Invalid' });
    const id = await changeOf('Secret/fails');
    const failed = await reaches(id, 'fails', 'failed');
    expect(failed).toMatchObject({ outcome: 'Invalid', attempts: { made: 1, most: 2 } });
    expect(failed.error).toContain('422');
    expect((await one(id)).to).toMatch(/^shown\./u);
    const failures = await api.call('listChanges', { query: { state: 'failed' } });
    expect(failures.items.map((item) => item.id)).toEqual([id]);
  });

  it('of a Deployment with a pause-period is reloaded, and its rollout is paused', async () => {
    const id = await changeOf('ConfigMap/pauses');
    await eventually(async () => {
      expect(await workloadOf(id, 'pauses')).toMatchObject({
        state: 'reloaded',
        outcome: 'ReloadedPaused',
        rollout: { state: 'progressing', code: 'Paused' },
      });
      return true;
    });
  });

  it('waits while its queue is paused, and says so', async () => {
    await reroll.queues.reloads.pause();
    const id = await changeOf('ConfigMap/waits');
    await reaches(id, 'waits', 'pending');
    const waiting = await api.call('listChanges', { query: { state: 'pending' } });
    expect(waiting.items.map((item) => item.id)).toEqual([id]);
    await reroll.queues.reloads.resume();
    await reaches(id, 'waits', 'rolledOut');
  });
});

describe('a workload', () => {
  it('tells its sources, what decides, its rollout, and what was done to it', async () => {
    const id = await changeOf('ConfigMap/rolls');
    await reaches(id, 'rolls', 'rolledOut');
    const params = { kind: 'Deployment', namespace: space.name, name: 'rolls' } as const;
    const workload = await api.call('getWorkload', { params });
    expect(workload).toMatchObject({
      sources: 1,
      due: null,
      contested: false,
      rollout: 'complete',
      lastReload: { reason: 'Reloaded', change: id },
      annotations: { 'reloader.stakater.com/auto': 'true' },
      job: null,
      sourcesInDetail: [
        {
          source: { kind: 'ConfigMap', namespace: space.name, name: 'rolls' },
          how: 'used',
          rolls: true,
          reason: 'AutoReload',
          exists: true,
          due: null,
        },
      ],
    });
    const [edge] = workload.sourcesInDetail;
    expect(edge?.recorded).toBe(edge?.current);
    expect(workload.history[0]).toMatchObject({
      change: id,
      state: 'rolledOut',
      rolled: ['ConfigMap/rolls'],
    });
  });

  it('is in the list, which is filtered by kind, part of the name and rollout', async () => {
    const names = async (query: Record<string, unknown>): Promise<string[]> => {
      const { items } = await api.call('listWorkloads', { query: { namespace: space.name, ...query } });
      return items.map(({ name }) => name);
    };
    await eventually(async () => (await names({})).length === 6);
    expect(await names({})).toEqual(['fails', 'ignores', 'pauses', 'rolls', 'sticks', 'waits']);
    expect(await names({ kind: 'StatefulSet' })).toEqual([]);
    expect(await names({ name: 'oll' })).toEqual(['rolls']);
    expect(await names({ rollout: 'stuck' })).toEqual(['sticks']);
  });

  it('whose patch is refused is pending, and its job is told', async () => {
    const due = await eventually(async () => {
      const { items } = await api.call('listWorkloads', { query: { due: 'owed' } });
      return items.length > 0 && items;
    });
    expect(due.map(({ name }) => name)).toEqual(['fails']);
  });
});

describe('a source', () => {
  it('tells who depends on it, and what its changes did', async () => {
    const params = { kind: 'ConfigMap', namespace: space.name, name: 'rolls' } as const;
    const source = await api.call('getSource', { params });
    expect(source).toMatchObject({ exists: true, workloads: 1 });
    expect(source.history[0]).toMatchObject({ state: 'rolledOut', workload: { name: 'rolls' } });
    expect(
      source.workloadsInDetail.map(({ workload, rolls, reason }) => [workload.name, rolls, reason]),
    ).toEqual([
      ['ignores', false, 'NotAnnotated'],
      ['rolls', true, 'AutoReload'],
    ]);
  });

  it('is in the list; of a Secret the hash is shown only under a key', async () => {
    const { items } = await api.call('listSources', { query: { namespace: space.name, kind: 'Secret' } });
    expect(items.map(({ name, workloads }) => [name, workloads])).toEqual([['fails', 1]]);
    const plain = hashOf(await space.get('Secret/fails'));
    expect(items[0]?.hash).toMatch(/^shown\./u);
    expect(JSON.stringify(items)).not.toContain(plain);
  });
});
