import { beforeAll, describe, expect, it } from 'vitest';
import type { RolloutEntry } from '@reroll/core/history/entries';
import { Rollouts } from '@reroll/redis/history/rollouts';
import {
  auto,
  configMap,
  deployment,
  replicas,
  usingEnvFrom,
  type Modifier,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space, type WorkloadRef } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  const watcherFlags = ['--rollout-details=true'];
  reroll = await startReroll({ cluster, namespaces: [space], watchers: 2, watcherFlags });
});

async function underWay(ref: WorkloadRef): Promise<RolloutEntry | undefined> {
  const key = keyIn(space, ref);
  return (await new Rollouts(reroll.redis, reroll.catalog.keys.rollouts).of([key])).get(key);
}

/** What the history has of the rollouts of a workload, oldest first. */
async function told(ref: WorkloadRef): Promise<RolloutEntry[]> {
  const entries = (await reroll.history.latest('rollouts', 10_000)).reverse().map(({ entry }) => entry);
  return entries.filter(({ workload }) => workload === keyIn(space, ref));
}

/** Resolves with the last of a workload's rollouts, once it is told to be so and is not under way any more. */
async function completed(ref: WorkloadRef, generation: number): Promise<RolloutEntry> {
  return await eventually(async () => {
    const last = (await told(ref)).findLast((entry) => entry.state === 'complete');
    return last !== undefined && last.generation >= generation && !(await underWay(ref)) && last;
  });
}

/** Pods that no node takes. */
const unschedulable: Modifier = ({ spec }) => {
  spec.template.spec.nodeSelector = { nowhere: 'true' };
};
const impatient: Modifier = ({ spec }) => {
  Object.assign(spec, { progressDeadlineSeconds: 1, replicas: 1 });
};

describe('a rollout', () => {
  it('that never gets on is stuck, with its conditions, and complete once it does', async () => {
    await space.apply(
      configMap('stuck', { v: '0' }),
      deployment('stuck', auto(), usingEnvFrom('stuck'), impatient),
    );
    await inStep(space, 'Deployment/stuck', ['ConfigMap/stuck']);
    const { generation } = (await space.get('Deployment/stuck')).metadata;
    await completed('Deployment/stuck', 1);
    await space.patch('Deployment/stuck', {
      spec: { template: { spec: { nodeSelector: { nowhere: 'true' } } } },
    });
    const stuck = await eventually(async () => {
      const entry = await underWay('Deployment/stuck');
      return entry?.state === 'stuck' && entry;
    });
    expect(stuck.generation).toBeGreaterThan(generation);
    expect(stuck).toMatchObject({ code: 'ProgressDeadlineExceeded', desired: 1 });
    expect(stuck.conditions).toContainEqual(
      expect.objectContaining({ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }),
    );
    expect((await told('Deployment/stuck')).map(({ state }) => state)).toContain('stuck');
    await space.patch('Deployment/stuck', { spec: { template: { spec: { nodeSelector: null } } } });
    await completed('Deployment/stuck', stuck.generation + 1);
  });
});

describe('a leader that takes over', () => {
  it('goes on with rollouts that are under way, and tells of those that ended meanwhile', async () => {
    const names = ['going', 'ends', 'goes'] as const;
    for (const name of names) {
      await space.apply(
        configMap(name, { v: '0' }),
        deployment(name, auto(), usingEnvFrom(name), replicas(1), unschedulable),
      );
    }
    const before = await eventually(async () => {
      const found = await Promise.all(names.map((name) => underWay(`Deployment/${name}`)));
      return found.every((entry) => entry !== undefined) && found;
    });
    await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
    await space.patch('Deployment/ends', { spec: { replicas: 0 } });
    await space.delete('Deployment/goes');
    await eventually(async () => {
      const { metadata, status } = (await space.get('Deployment/ends')) as unknown as {
        metadata: { generation: number };
        status: { observedGeneration: number; replicas?: number };
      };
      return status.observedGeneration === metadata.generation && (status.replicas ?? 0) === 0;
    });
    reroll.start('watcher');
    await reroll.ready();
    await eventually(async () => (await told('Deployment/ends')).some(({ state }) => state === 'complete'));
    await eventually(async () => (await underWay('Deployment/goes')) === undefined);
    expect(await underWay('Deployment/ends')).toBeUndefined();
    expect((await underWay('Deployment/going'))?.since).toBe(before[0]?.since);
    expect(await told('Deployment/goes')).toEqual([]);
  });
});
