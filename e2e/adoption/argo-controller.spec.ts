import { beforeAll, describe, expect, it } from 'vitest';
import { startArgoRollouts } from '../support/objects/argo-rollouts.ts';
import {
  annotated,
  argoRollout,
  auto,
  configMap,
  deployment,
  replicas,
  usingEnvFrom,
  type Modifier,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeObject, type Manifest, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** The real controller of Argo Rollouts: a reload really replaces the pods, once. Building it once takes minutes. */
const COUNT = 2;
const REVISION = 'rollouts-pod-template-hash';
const TIMES = 120_000;

let space: Space;
let reroll: Reroll;

interface Pod {
  readonly metadata: KubeObject['metadata'] & { readonly deletionTimestamp?: string };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await startArgoRollouts(cluster, space);
  const watcherFlags = ['--is-argo-rollouts=true', '--discovery-interval=200ms'];
  reroll = await startReroll({ cluster, namespaces: [space], watcherFlags, workers: 0 });
}, 1_800_000);

/** Its pods, when there are as many as there should be, all of them Ready and none of `gone`. */
async function podsOf(app: string, gone: readonly string[] = []): Promise<Pod[]> {
  return await eventually(
    async () => {
      const pods = (await space.list('Pod')) as unknown as Pod[];
      const own = pods.filter(({ metadata }) => metadata.labels?.['app'] === app);
      const fits = ({ metadata, status }: Pod): boolean =>
        !gone.includes(metadata.uid) &&
        (status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false);
      return own.length === COUNT && own.every(fits) && own;
    },
    { what: `${COUNT} new pods of ${app}`, within: TIMES },
  );
}

function uids(pods: readonly Pod[]): string[] {
  return pods.map(({ metadata }) => metadata.uid);
}

function revisions(pods: readonly Pod[]): Set<string | undefined> {
  return new Set(pods.map(({ metadata }) => metadata.labels?.[REVISION]));
}

const canary: Modifier = ({ spec }) => {
  spec.strategy = { canary: {} };
};

async function rolledOnce(name: string, workload: string): Promise<[before: Pod[], after: Pod[]]> {
  await inStep(space, workload, [`ConfigMap/${name}`]);
  const before = await podsOf(name);
  await space.setData(`ConfigMap/${name}`, { v: '2' });
  await inStep(space, workload, [`ConfigMap/${name}`]);
  const after = await podsOf(name, uids(before));
  await settled(reroll, space);
  // As they are when all is quiet: nothing has rolled a second time.
  expect(uids(await podsOf(name)).sort()).toEqual(uids(after).sort());
  return [before, after];
}

describe.each(['env-vars', 'annotations'] as const)('with the strategy %s', (strategy) => {
  beforeAll(async () => {
    await Promise.all(reroll.workers.map((worker) => worker.stop()));
    reroll.start('worker', [`--reload-strategy=${strategy}`]);
    await reroll.ready();
  });

  it(
    'a change rolls a Rollout to a new revision',
    async () => {
      const name = `rollout-${strategy}`;
      await space.apply(
        configMap(name, { v: '1' }),
        argoRollout(name, auto(), canary, replicas(COUNT), usingEnvFrom(name)),
      );
      const [before, after] = await rolledOnce(name, `Rollout/${name}`);
      expect(revisions(after).size).toBe(1);
      expect(revisions(after)).not.toEqual(revisions(before));
    },
    2 * TIMES,
  );

  it(
    'rollout-strategy: restart replaces the pods under the same revision',
    async () => {
      const name = `restart-${strategy}`;
      const restart = annotated({ 'reloader.stakater.com/rollout-strategy': 'restart' });
      await space.apply(
        configMap(name, { v: '1' }),
        argoRollout(name, auto(), restart, canary, replicas(COUNT), usingEnvFrom(name)),
      );
      const [before, after] = await rolledOnce(name, `Rollout/${name}`);
      expect(revisions(after)).toEqual(revisions(before));
    },
    2 * TIMES,
  );

  it.each<[string, Modifier[], Modifier[]]>([
    ['annotated', [auto()], []],
    ['plain', [], [auto()]],
    ['both', [auto()], [auto()]],
  ])(
    'a Rollout with a workloadRef rolls to one new revision, whichever of it and its Deployment asks (%s)',
    async (which, onDeployment, onRollout) => {
      const name = `${which}-${strategy}`;
      await space.apply(
        configMap(name, { v: '1' }),
        deployment(name, ...onDeployment, usingEnvFrom(name)),
        byReference(name, ...onRollout),
      );
      const [before, after] = await rolledOnce(name, `Deployment/${name}`);
      expect(revisions(after).size).toBe(1);
      expect(revisions(after)).not.toEqual(revisions(before));
      expect(await replicaSets(name)).toBe(2);
    },
    2 * TIMES,
  );

  it(
    'a Rollout with a workloadRef and rollout-strategy: restart keeps its revision',
    async () => {
      const name = `restart-by-reference-${strategy}`;
      const restart = annotated({ 'reloader.stakater.com/rollout-strategy': 'restart' });
      await space.apply(
        configMap(name, { v: '1' }),
        deployment(name, usingEnvFrom(name)),
        byReference(name, auto(), restart),
      );
      const [before, after] = await rolledOnce(name, `Rollout/${name}`);
      expect(revisions(after)).toEqual(revisions(before));
      expect(await replicaSets(name)).toBe(1);
    },
    2 * TIMES,
  );
});

/** Of the Rollout of this name: the revisions that it has had. */
async function replicaSets(name: string): Promise<number> {
  const { uid } = (await space.get(`Rollout/${name}`)).metadata;
  const sets = await space.list('ReplicaSet');
  return sets.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid)).length;
}

/** Its template is the Deployment's, which has no pods of its own. */
function byReference(name: string, ...modifiers: readonly Modifier[]): Manifest {
  const workloadRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  const { metadata, ...rest } = argoRollout(name, canary, ...modifiers);
  return { ...rest, metadata, spec: { replicas: COUNT, strategy: { canary: {} }, workloadRef } } as Manifest;
}
