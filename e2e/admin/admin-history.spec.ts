import { beforeAll, describe, expect, it } from 'vitest';
import type { ChangeEntry, RolloutEntry } from '@reroll/core/history/entries';
import { markerHash } from '@reroll/core/marker/marker-hash';
import { Rollouts } from '@reroll/redis/history/rollouts';
import type { ChangeWorkload } from '@reroll/shared/api/changes';
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
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { EventReader } from '../support/admin/event-reader.ts';
import { connect, namespace, type Space, type WorkloadRef } from '../support/kube.ts';
import { refuseUpdates } from '../support/objects/policy.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { hashOf, inStep, markerVariables, RolloutCount, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let reroll: Reroll;
let api: AdminApi;
let changes = 0;

/** Its pods fit on no node, so they never become ready. */
const homeless: Modifier = ({ spec }) => void (spec.template.spec.nodeSelector = { e2e: 'nowhere' });
const impatient: Modifier = ({ spec }) => void Object.assign(spec, { progressDeadlineSeconds: 1 });

/** The id of a new change of this source. */
async function changeOf(source: string): Promise<string> {
  const newest = async (): Promise<string | undefined> => {
    const { items } = await api.call('listChanges', { query: { source: keyIn(space, source), limit: 1 } });
    return items[0]?.id;
  };
  const before = await newest();
  changes += 1;
  await space.setData(source, { v: `change ${changes}` });
  return await eventually(async () => {
    const id = await newest();
    return id !== before && id;
  });
}

async function workloadOf(id: string, name: string): Promise<ChangeWorkload | undefined> {
  const { workloads } = await api.call('getChange', { params: { id } });
  return workloads.find(({ workload }) => workload.name === name);
}

/** The changes of a source that the history has, oldest first, once there are so many. */
async function told(ref: string, count: number): Promise<Pick<ChangeEntry, 'cause' | 'from' | 'hash'>[]> {
  return await eventually(async () => {
    const all = await reroll.changes(space, ref);
    return all.length >= count && all.map(({ cause, from, hash }) => ({ cause, from, hash }));
  });
}

async function hashNow(ref: string): Promise<string> {
  return hashOf(await space.get(ref));
}

async function underWay(ref: WorkloadRef): Promise<RolloutEntry | undefined> {
  const key = keyIn(space, ref);
  return (await new Rollouts(reroll.redis, reroll.catalog.keys.rollouts).of([key])).get(key);
}

/** How the rollouts of a workload ended, as the history has it. */
async function ends(ref: WorkloadRef): Promise<RolloutEntry['state'][]> {
  const entries = (await reroll.history.latest('rollouts', 10_000)).map(({ entry }) => entry);
  return entries.filter(({ workload }) => workload === keyIn(space, ref)).map(({ state }) => state);
}

/** The workload at the change, once it is in that state. */
async function reaches(id: string, name: string, state: ChangeWorkload['state']): Promise<ChangeWorkload> {
  return await eventually(async () => {
    const found = await workloadOf(id, name);
    expect(found).toMatchObject({ state });
    return found;
  });
}

const USERS = ['rolls', 'pauses', 'sticks', 'going', 'ends', 'goes', 'gap', 'middle', 'again'];

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.applyAll([...USERS.map((name) => configMap(name, { v: '0' })), secret('fails', { v: '0' })]);
  const pausing = annotated({ [KEYS.pausePeriod]: '1h' });
  const users: Readonly<Record<string, readonly Modifier[]>> = {
    pauses: [pausing, replicas(1)],
    sticks: [replicas(1), homeless, impatient],
    ...Object.fromEntries(['going', 'ends', 'goes'].map((name) => [name, [replicas(1), homeless]])),
    rolls: [replicas(1)],
  };
  await space.applyAll([
    ...USERS.map((name) => deployment(name, auto(), usingEnvFrom(name), ...(users[name] ?? []))),
    deployment('ignores', usingEnvFrom('rolls')),
    deployment('fails', auto(), usingEnvFrom('Secret/fails')),
  ]);
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    admins: 1,
    flags: ['--ignored-workload-types=cronjobs'],
    watcherFlags: ['--rollout-details=true'],
    workerFlags: ['--attempts=2'],
  });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin);
  await eventually(async () => (await api.call('getStatus')).processes.some(({ app }) => app === 'worker'));
  await Promise.all(USERS.map((name) => inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`])));
  await inStep(space, 'Deployment/fails', ['Secret/fails']);
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
    const change = await api.call('getChange', { params: { id } });
    const source = { kind: 'ConfigMap', namespace: space.name, name: 'rolls' };
    expect(change).toMatchObject({ source, cause: 'updated', request: null });
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

  it('whose pods never become ready is stuck, with the conditions that say so, and rolled out once they do', async () => {
    const id = await changeOf('ConfigMap/sticks');
    const rollout = await eventually(async () => {
      const stuck = await workloadOf(id, 'sticks');
      expect(stuck).toMatchObject({ state: 'stuck', endedAt: null, rollout: { state: 'stuck' } });
      return stuck?.rollout;
    });
    const progressing = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' };
    expect(rollout.code).toBe(progressing.reason);
    expect(rollout.conditions).toContainEqual(expect.objectContaining(progressing));
    // If the pod is created after the deadline, the rollout progresses again for the length of a deadline.
    await eventually(async () => {
      expect(await underWay('Deployment/sticks')).toMatchObject({ state: 'stuck', desired: 1 });
      const { items } = await api.call('listWorkloads', { query: { rollout: 'stuck', name: 'tick' } });
      expect(items.map(({ name }) => name)).toEqual(['sticks']);
      return true;
    });
    await space.patch('Deployment/sticks', { spec: { template: { spec: { nodeSelector: null } } } });
    await reaches(id, 'sticks', 'rolledOut');
    await eventually(async () => (await underWay('Deployment/sticks')) === undefined);
    expect(await ends('Deployment/sticks')).toContain('stuck');
  });

  it('that the API server refuses has failed, with attempts and the code of the error', async () => {
    await refuseUpdates(space, { workloads: ['fails'], reason: 'Invalid' });
    const id = await changeOf('Secret/fails');
    const failed = await reaches(id, 'fails', 'failed');
    expect(failed).toMatchObject({ outcome: 'Invalid', attempts: { made: 1, most: 2 } });
    expect(failed.error).toContain('422');
    expect((await api.call('getChange', { params: { id } })).to).toMatch(/^shown\./u);
    const failures = await api.call('listChanges', { query: { state: 'failed' } });
    expect(failures.items.map((item) => item.id)).toEqual([id]);
    await eventually(async () => {
      const { items } = await api.call('listWorkloads', { query: { due: 'owed' } });
      expect(items.map(({ name }) => name)).toEqual(['fails']);
      return true;
    });
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

  it('says that its source was deleted, and that it was created again', async () => {
    const zero = await hashNow('ConfigMap/again');
    await space.delete('ConfigMap/again');
    expect(await told('ConfigMap/again', 1)).toEqual([{ cause: 'deleted', from: zero, hash: null }]);
    await space.apply(configMap('again', { v: '1' }));
    await inStep(space, 'Deployment/again', ['ConfigMap/again']);
    const created = { cause: 'created', from: null, hash: await hashNow('ConfigMap/again') };
    expect((await told('ConfigMap/again', 2)).at(-1)).toEqual(created);
  });

  it('is not lost, wherever in the reload of an earlier one it comes', async () => {
    const rollouts = await RolloutCount.from(space, 'Deployment/middle');
    const rounds = 10;
    for (let round = 1; round <= rounds; round += 1) {
      await space.setData('ConfigMap/middle', { v: `${round} first` });
      // A read each: the second change comes a little later in the reload of the first one every round.
      for (let reads = 0; reads < round; reads += 1) await space.get('ConfigMap/middle');
      await space.setData('ConfigMap/middle', { v: `${round} second` });
      await inStep(space, 'Deployment/middle', ['ConfigMap/middle']);
    }
    await settled(reroll, space);
    const now = await inStep(space, 'Deployment/middle', ['ConfigMap/middle']);
    // If the second change comes between a worker's read and its patch, the rollout of the first one brings it:
    // the record says so, and the marker stays as it was written.
    const last = ['first', 'second'].map((which) =>
      markerHash('ConfigMap', { data: { v: `${rounds} ${which}` } }),
    );
    expect(last).toContain(markerVariables(now)['app']?.['STAKATER_MIDDLE_CONFIGMAP']);
    expect(await rollouts.now()).toBeGreaterThanOrEqual(rounds);
    expect(await rollouts.now()).toBeLessThanOrEqual(2 * rounds);
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

  it('is in the list, which is filtered by kind and part of the name', async () => {
    const names = async (query: Record<string, unknown>): Promise<string[]> => {
      const { items } = await api.call('listWorkloads', { query: { namespace: space.name, ...query } });
      return items.map(({ name }) => name);
    };
    const all = [...USERS, 'ignores', 'fails'].sort();
    expect((await names({})).filter((name) => all.includes(name))).toEqual(all);
    expect(await names({ kind: 'StatefulSet' })).toEqual([]);
    expect(await names({ name: 'oll' })).toEqual(['rolls']);
  });

  it('of a kind that is ignored is not known, and it is said why', async () => {
    const query = { workload: keyIn(space, 'CronJob/nightly'), source: keyIn(space, 'ConfigMap/rolls') };
    const detail = 'None is watched: workloads of kind CronJob are ignored.';
    expect(await api.problem('explain', { query })).toMatchObject({ code: 'NotFound', detail });
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
    const query = { namespace: space.name, kind: 'Secret', name: 'fails' } as const;
    const { items } = await api.call('listSources', { query });
    expect(items.map(({ name, workloads }) => [name, workloads])).toEqual([['fails', 1]]);
    const plain = hashOf(await space.get('Secret/fails'));
    expect(items[0]?.hash).toMatch(/^shown\./u);
    expect(JSON.stringify(items)).not.toContain(plain);
  });
});

it('a leader that takes over goes on with rollouts under way, tells of those that ended, and of changes that were missed', async () => {
  const names = ['going', 'ends', 'goes'] as const;
  const before = await eventually(async () => {
    const found = await Promise.all(names.map((name) => underWay(`Deployment/${name}`)));
    return found.every((entry) => entry !== undefined) && found;
  });
  const zero = await hashNow('ConfigMap/gap');
  await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
  await space.setData('ConfigMap/gap', { v: '1' });
  await space.patch('Deployment/ends', { spec: { replicas: 0 } });
  await space.delete('Deployment/goes');
  await eventually(async () => {
    const { metadata, status = {} } = await space.get('Deployment/ends');
    return status['observedGeneration'] === metadata.generation && (status['replicas'] ?? 0) === 0;
  });
  reroll.start('watcher');
  await reroll.ready();
  await inStep(space, 'Deployment/gap', ['ConfigMap/gap']);
  const missed = { cause: 'missed', from: zero, hash: await hashNow('ConfigMap/gap') };
  expect(await told('ConfigMap/gap', 1)).toEqual([missed]);
  await eventually(async () => (await ends('Deployment/ends')).includes('complete'));
  await eventually(async () => (await underWay('Deployment/goes')) === undefined);
  expect(await underWay('Deployment/ends')).toBeUndefined();
  expect((await underWay('Deployment/going'))?.since).toBe(before[0]?.since);
  expect(await ends('Deployment/goes')).toEqual([]);
});
