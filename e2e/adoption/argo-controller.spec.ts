import { isDeepStrictEqual } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
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
import { change, inStep, settled } from '../support/objects/rollouts.ts';
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
  reroll = await startReroll({ cluster, namespaces: [space], watcherFlags });
}, 1_800_000);

/** Its pods, when there are as many as there should be, all of them Ready and none of `gone`. */
async function podsOf(app: string, gone: readonly string[] = []): Promise<Pod[]> {
  return await eventually(
    async () => {
      const pods = (await space.list('Pod')) as unknown as Pod[];
      const own = pods.filter(({ metadata }) => metadata.labels?.['app'] === app);
      const isReady = ({ status }: Pod): boolean =>
        status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
      const fits = (pod: Pod): boolean => !gone.includes(pod.metadata.uid) && isReady(pod);
      if (own.length === COUNT && own.every(fits)) return own;
      const { status } = await space.get(`Rollout/${app}`);
      const given = own.map((pod) => [pod.metadata.name, !gone.includes(pod.metadata.uid), isReady(pod)]);
      throw new Error(
        `expected ${COUNT} new pods of ${app}, given ${JSON.stringify(given)} (name, new, Ready), ` +
          `and of the Rollout ${JSON.stringify(status)}`,
      );
    },
    { within: TIMES },
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

/** The uids of the pods that there were last, by the Rollout. */
const last = new Map<string, string[]>();

async function reloadedOnce(name: string, workload: string, v = '2'): Promise<[before: Pod[], after: Pod[]]> {
  await inStep(space, workload, [`ConfigMap/${name}`]);
  const before = await podsOf(name);
  await change(space, `ConfigMap/${name}`, v, [workload]);
  const after = await podsOf(name, uids(before));
  last.set(name, uids(after).sort());
  return [before, after];
}

const restart = annotated({ 'reloader.stakater.com/rollout-strategy': 'restart' });

interface Case {
  readonly make: (name: string) => readonly Manifest[];
  /** Which of them has the record. */
  readonly recorded: 'Rollout' | 'Deployment';
  readonly sameRevision?: true;
}

const own =
  (...modifiers: readonly Modifier[]): Case['make'] =>
  (name) => [argoRollout(name, auto(), canary, replicas(COUNT), usingEnvFrom(name), ...modifiers)];

const referring =
  (onDeployment: readonly Modifier[], onRollout: readonly Modifier[]): Case['make'] =>
  (name) => [deployment(name, ...onDeployment, usingEnvFrom(name)), byReference(name, ...onRollout)];

const CASES: Readonly<Record<string, Case>> = {
  rollout: { make: own(), recorded: 'Rollout' },
  restart: { make: own(restart), recorded: 'Rollout', sameRevision: true },
  'annotated-deployment': { make: referring([auto()], []), recorded: 'Deployment' },
  'annotated-rollout': { make: referring([], [auto()]), recorded: 'Deployment' },
  'annotated-both': { make: referring([auto()], [auto()]), recorded: 'Deployment' },
  'restart-by-reference': {
    make: referring([], [auto(), restart]),
    recorded: 'Rollout',
    sameRevision: true,
  },
};

it(
  'a change replaces the pods of a Rollout once: under a new revision, or under the same with rollout-strategy: restart',
  async () => {
    await Promise.all(
      Object.entries(CASES).map(async ([name, { make, recorded, sameRevision }]) => {
        await space.apply(configMap(name, { v: '1' }), ...make(name));
        const [before, after] = await reloadedOnce(name, `${recorded}/${name}`);
        expect(revisions(after).size, name).toBe(1);
        expect(isDeepStrictEqual(revisions(after), revisions(before)), name).toBe(sameRevision === true);
        expect(await replicaSets(name), name).toBe(sameRevision ? 1 : 2);
      }),
    );
    await settled(reroll, space);
    // As they are when all is quiet: nothing has replaced them a second time.
    for (const [name, uid] of last) expect(uids(await podsOf(name)).sort(), name).toEqual(uid);
  },
  2 * TIMES,
);

it(
  'and so it does with the strategy annotations',
  async () => {
    await reroll.replace('worker', undefined, ['--reload-strategy=annotations']);
    const [before, after] = await reloadedOnce('rollout', 'Rollout/rollout', '3');
    expect(revisions(after).size).toBe(1);
    expect(revisions(after)).not.toEqual(revisions(before));
    expect(await replicaSets('rollout')).toBe(3);
  },
  2 * TIMES,
);

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
