import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  auto,
  deployment,
  naming,
  podAnnotated,
  source,
  usingEnvFrom,
  usingVolume,
  variable,
  withContainers,
  type Modifier,
  type SourceRef,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { variablePart } from '../support/objects/incumbent.ts';
import { connect, namespace, type KubeObject, type Ref, type Space } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import {
  RolloutCount,
  inStep,
  markerAnnotation,
  markerVariables,
  settled,
} from '../support/objects/rollouts.ts';

/** A name without and with what a variable cannot have, of both kinds of source. */
const SOURCES: readonly SourceRef[] = ['ConfigMap/cm', 'ConfigMap/a.b--c', 'Secret/keys', 'Secret/tls-1.x'];

/** Computed here by the incumbent's rule, with nothing of ours. */
function hashOf(value: string): string {
  return createHash('sha1').update(`key=${value}`).digest('hex');
}

function partsOf(ref: SourceRef): { kind: string; name: string; type: string } {
  const [kind = '', name = ''] = ref.split('/');
  return { kind, name, type: kind.toUpperCase() };
}

/** What the env-vars strategy left: a variable for each source that changed, in the container that uses it. */
function variableOf(ref: SourceRef): Modifier {
  const { name, type } = partsOf(ref);
  return variable(`STAKATER_${variablePart(name)}_${type}`, hashOf('1'), 'app');
}

/** What the annotations strategy left: the last source that changed. */
function annotationOf(space: Space, ref: SourceRef): Modifier {
  const { name, type } = partsOf(ref);
  const from =
    `{"type":"${type}","name":"${name}","namespace":"${space.name}","hash":"${hashOf('1')}",` +
    `"containerRefs":["app"],"observedAt":1795219190}`;
  return podAnnotated({ 'reloader.stakater.com/last-reloaded-from': from });
}

/** Workloads as they are after `strategy`, with the sources that each of them uses. */
async function leftBy(strategy: string, space: Space): Promise<Map<Ref, readonly SourceRef[]>> {
  const containers = withContainers('web', 'app');
  const used = [usingEnvFrom('ConfigMap/cm', 'app'), usingVolume('Secret/tls-1.x', 'app')];
  const [first, second] = ['ConfigMap/cm', 'Secret/tls-1.x'] as const;
  const both =
    strategy === 'env-vars' ? [variableOf(first), variableOf(second)] : [annotationOf(space, second)];
  const others = ['ConfigMap/a.b--c', 'Secret/keys'] as const;
  const marks = others.map((ref) => (strategy === 'env-vars' ? variableOf(ref) : annotationOf(space, ref)));
  await space.apply(
    deployment(`${strategy}-auto`, containers, auto(), ...used, ...both),
    // Named and used nowhere; its first source never changed under the incumbent.
    deployment(`${strategy}-named`, containers, naming(...others), ...marks.slice(1)),
  );
  return new Map<Ref, readonly SourceRef[]>([
    [`Deployment/${strategy}-auto`, [first, second]],
    [`Deployment/${strategy}-named`, others],
  ]);
}

it('what the incumbent left in both strategies is not reloaded, nor is it by another strategy; each source that changes reloads each of its workloads once', async () => {
  const space = await namespace(connect(sharedCluster()));
  await space.apply(...SOURCES.map((ref) => source(ref, { key: '1' })));
  const left = new Map([...(await leftBy('env-vars', space)), ...(await leftBy('annotations', space))]);
  const counts = await Promise.all([...left.keys()].map((ref) => RolloutCount.from(space, ref)));
  const rollouts = async (): Promise<[Ref, number | undefined][]> => {
    const now = await Promise.all(counts.map((count) => count.now()));
    return [...left.keys()].map((ref, index) => [ref, now[index]]);
  };
  const expected = new Map([...left.keys()].map((ref) => [ref, 0]));
  const reroll = await startReroll({ cluster: sharedCluster(), namespaces: [space], workers: 0 });

  let round = 1;
  for (const strategy of ['annotations', 'env-vars']) {
    await Promise.all(reroll.workers.map((worker) => worker.stop()));
    await reroll.start('worker', [`--reload-strategy=${strategy}`]).ready();
    for (const [ref, sources] of left) await inStep(space, ref, sources);
    await settled(reroll, space);
    expect(await rollouts(), strategy).toEqual([...expected]);
    round += 1;
    for (const changed of SOURCES) {
      await space.setData(changed, { key: `${round}` });
      for (const [ref, sources] of [...left].filter(([, used]) => used.includes(changed))) {
        expected.set(ref, (expected.get(ref) ?? 0) + 1);
        const now = await inStep(space, ref, sources);
        expect(markedAs(strategy, changed, now), `${strategy} of ${ref}`).toBe(hashOf(`${round}`));
      }
    }
    await settled(reroll, space);
    expect(await rollouts(), strategy).toEqual([...expected]);
  }
});

function markedAs(strategy: string, changed: SourceRef, now: KubeObject): string | undefined {
  if (strategy === 'annotations') return markerAnnotation(now)?.hash;
  const { name, type } = partsOf(changed);
  const variables = markerVariables(now);
  const marker = `STAKATER_${variablePart(name)}_${type}`;
  return Object.values(variables).find((each) => marker in each)?.[marker];
}
