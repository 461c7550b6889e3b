import { beforeAll, describe, expect, it } from 'vitest';
import { auto, configMap, deployment, replicas, usingEnvFrom } from './support/builders.ts';
import { sharedCluster } from './support/cluster.ts';
import { connect, namespace, type KubeObject, type Manifest, type Space } from './support/kube.ts';
import { startReroll, type Reroll } from './support/reroll.ts';
import { RolloutCount, inStep, markerVariables, settled } from './support/rollouts.ts';
import { eventually } from './support/wait.ts';

/** There is no kubectl or helm here: these are the requests that they make. */
const STRATEGIC_MERGE = 'application/strategic-merge-patch+json';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const CM = ['ConfigMap/cm'];
const NAMES = ['kubectl', 'helm', 'server-side', 'undo'] as const;

function manifest(name: string, more: Readonly<Record<string, string>> = {}): Manifest {
  const value = deployment(name, auto(), usingEnvFrom('cm'), replicas(1)) as Manifest & {
    metadata: { annotations: Record<string, string> };
  };
  Object.assign(value.metadata.annotations, more);
  return value;
}

/** A three-way merge ends in this patch: what the manifest says, and nothing of what others wrote. */
async function merge(space: Space, body: Manifest, fieldManager: string): Promise<KubeObject> {
  const path = space.path(`${body.kind}/${body.metadata.name}`);
  const options = { contentType: STRATEGIC_MERGE, query: { fieldManager } };
  return (await space.client.patch<KubeObject>(path, body, options)).body;
}

/** `kubectl apply`, client-side: the manifest and, as an annotation, its text. */
async function kubectlApply(space: Space, body: Manifest): Promise<KubeObject> {
  const { metadata } = body as Manifest & { metadata: { annotations: Record<string, string> } };
  const annotations = { ...metadata.annotations, [LAST_APPLIED]: `${JSON.stringify(body)}\n` };
  const applied = { ...body, metadata: { ...metadata, annotations } } as Manifest;
  return await merge(space, applied, 'kubectl-client-side-apply');
}

/** `kubectl rollout undo`: the pod template of the ReplicaSet before, without its hash, put in place of the present. */
async function undo(space: Space, ref: string): Promise<KubeObject> {
  const owner = (await space.get(ref)).metadata.uid;
  const revision = ({ metadata }: KubeObject): number =>
    Number(metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0);
  const [, previous] = await eventually(async () => {
    const all = await space.list('ReplicaSet');
    const own = all.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === owner));
    return own.length > 1 && own.toSorted((a, b) => revision(b) - revision(a));
  });
  const { metadata, ...rest } = (previous as KubeObject).spec.template;
  const { labels = {} } = (metadata ?? {}) as { labels?: Record<string, string> };
  const { 'pod-template-hash': _hash, ...own } = labels;
  const value = { ...rest, metadata: { ...metadata, labels: own } };
  const operations = [{ op: 'replace', path: '/spec/template', value }];
  return (await space.client.patch<KubeObject>(space.path(ref), operations)).body;
}

describe('after a reload', () => {
  let space: Space;
  let reroll: Reroll;

  beforeAll(async () => {
    space = await namespace(connect(sharedCluster()));
    await space.apply(configMap('cm', { v: '0' }));
    for (const name of NAMES) {
      if (name === 'server-side') await space.apply(manifest(name));
      else {
        await space.client.post(space.path(`Deployment/${name}`).replace(/\/[^/]+$/, ''), manifest(name));
      }
    }
    await kubectlApply(space, manifest('kubectl'));
    reroll = await startReroll({ cluster: sharedCluster(), namespaces: [space] });
    for (const name of NAMES) await inStep(space, `Deployment/${name}`, CM);
    await space.setData('ConfigMap/cm', { v: '1' });
    for (const name of NAMES) await inStep(space, `Deployment/${name}`, CM);
    await settled(reroll, space);
  });

  it.each<[string, string, (space: Space) => Promise<KubeObject>]>([
    ['kubectl apply', 'kubectl', (in_) => kubectlApply(in_, manifest('kubectl', { note: '1' }))],
    ['helm upgrade', 'helm', (in_) => merge(in_, manifest('helm', { note: '1' }), 'helm')],
    ['helm rollback', 'helm', (in_) => merge(in_, manifest('helm', { note: '0' }), 'helm')],
    [
      'server-side apply',
      'server-side',
      async (in_) => (await in_.apply(manifest('server-side', { note: '1' })))[0] as KubeObject,
    ],
  ])('%s leaves the marker alone and is followed by no rollout', async (_, name, act) => {
    const ref = `Deployment/${name}`;
    const before = await space.get(ref);
    const rollouts = await RolloutCount.from(space, ref);
    const after = await act(space);
    expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
    expect(Object.keys(markerVariables(after)['app'] ?? {})).toEqual(['STAKATER_CM_CONFIGMAP']);
    expect(after.spec.template).toEqual(before.spec.template);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(0);
  });

  it('kubectl rollout undo takes the marker away by one rollout of its own, which is followed by none of ours', async () => {
    const ref = 'Deployment/undo';
    const rollouts = await RolloutCount.from(space, ref);
    const undone = await undo(space, ref);
    expect(markerVariables(undone)).toEqual({});
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
    await space.setData('ConfigMap/cm', { v: '2' });
    const after = await inStep(space, ref, CM);
    expect(Object.keys(markerVariables(after)['app'] ?? {})).toEqual(['STAKATER_CM_CONFIGMAP']);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(2);
  });
});
