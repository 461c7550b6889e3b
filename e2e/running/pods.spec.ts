import { beforeAll, expect, it } from 'vitest';
import type { OutcomeEntry } from '@reroll/core/history/entries';
import {
  WORKLOAD_BUILDERS,
  auto,
  configMap,
  onDelete,
  replicas,
  usingEnvFrom,
  type Modifier,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeObject, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** The shared cluster has three nodes: so many pods has a DaemonSet. */
const COUNT = 3;

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space], watcherFlags: ['--rollout-details=true'] });
});

interface Pod extends Omit<KubeObject, 'spec'> {
  readonly metadata: KubeObject['metadata'] & { readonly deletionTimestamp?: string };
  readonly spec: { readonly containers: readonly { readonly env?: readonly { readonly name: string }[] }[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Resolves with the pods of a workload when there are as many as there should be, all of them Ready. */
async function readyPods(app: string, fits: (pod: Pod) => boolean): Promise<Pod[]> {
  return await eventually(
    async () => {
      const pods = (await space.list('Pod')) as unknown as Pod[];
      const own = pods.filter(({ metadata }) => metadata.labels?.['app'] === app);
      const isReady = ({ status }: Pod): boolean =>
        status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
      return own.length === COUNT && own.every((pod) => isReady(pod) && fits(pod)) && own;
    },
    { what: `${COUNT} pods of ${app} that fit`, within: 60_000 },
  );
}

function hasMarker(name: string): (pod: Pod) => boolean {
  const variable = `STAKATER_${name.toUpperCase().replaceAll('-', '_')}_CONFIGMAP`;
  return ({ spec }) => spec.containers[0]?.env?.some((entry) => entry.name === variable) ?? false;
}

function not(fits: (pod: Pod) => boolean): (pod: Pod) => boolean {
  return (pod) => !fits(pod);
}

function uids(pods: readonly Pod[]): Set<string> {
  return new Set(pods.map(({ metadata }) => metadata.uid));
}

async function user(kind: string, name: string, ...modifiers: readonly Modifier[]): Promise<string> {
  const build = WORKLOAD_BUILDERS[kind] as (typeof WORKLOAD_BUILDERS)['Deployment'];
  await space.apply(configMap(name, { v: '1' }));
  await space.apply(build(name, auto(), usingEnvFrom(name), replicas(COUNT), ...modifiers));
  await inStep(space, `${kind}/${name}`, [`ConfigMap/${name}`]);
  return `${kind}/${name}`;
}

async function reloaded(ref: string): Promise<OutcomeEntry> {
  return await eventually(async () =>
    (await reroll.outcomes(space, ref)).find(({ state }) => state === 'reloaded'),
  );
}

it('the pods of each kind are all replaced by marked ones when what they use changes, by one rollout', async () => {
  const replaced = async (kind: string): Promise<void> => {
    const name = `pods-${kind.toLowerCase()}`;
    const ref = await user(kind, name);
    const before = uids(await readyPods(name, not(hasMarker(name))));
    const rollouts = await RolloutCount.from(space, ref);
    await space.setData(`ConfigMap/${name}`, { v: '2' });
    await inStep(space, ref, [`ConfigMap/${name}`]);
    const after = uids(await readyPods(name, hasMarker(name)));
    expect([...after].filter((uid) => before.has(uid))).toEqual([]);
    expect(await rollouts.now()).toBe(1);
    const { generation = Infinity } = await reloaded(ref);
    await eventually(async () => {
      const told = (await reroll.history.latest('rollouts', 10_000)).map(({ entry }) => entry);
      const own = told.filter(({ workload }) => workload === keyIn(space, ref));
      return own.some((entry) => entry.generation >= generation && entry.code === 'Complete');
    });
  };
  await Promise.all(Object.keys(WORKLOAD_BUILDERS).map(replaced));
});

it('with the update strategy OnDelete they stay, as the outcome says, and come back marked once they are deleted', async () => {
  const waits = async (kind: string): Promise<void> => {
    const name = `waits-${kind.toLowerCase()}`;
    const ref = await user(kind, name, onDelete());
    const before = await readyPods(name, not(hasMarker(name)));
    await space.setData(`ConfigMap/${name}`, { v: '2' });
    await inStep(space, ref, [`ConfigMap/${name}`]);
    expect((await reloaded(ref)).reason).toBe('ReloadedAwaitingDeletion');
    await eventually(async () => {
      const { status, metadata } = await space.get(ref);
      return status?.['observedGeneration'] === metadata.generation;
    });
    expect(uids(await readyPods(name, not(hasMarker(name))))).toEqual(uids(before));
    for (const { metadata } of before) await space.delete(`Pod/${metadata.name}`);
    await readyPods(name, hasMarker(name));
  };
  await Promise.all(['StatefulSet', 'DaemonSet'].map(waits));
});
