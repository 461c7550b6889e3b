import { beforeAll, describe, expect, it } from 'vitest';
import {
  auto,
  configMap,
  deployment,
  secret,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, markerVariables, settled } from '../support/objects/rollouts.ts';

/** Long enough that what a test does at once is done within it, on a busy machine too. */
const DEBOUNCE = '1500ms';

describe('within the debounce', () => {
  let space: Space;
  let reroll: Reroll;

  beforeAll(async () => {
    const cluster = sharedCluster();
    space = await namespace(connect(cluster));
    reroll = await startReroll({ cluster, namespaces: [space], debounce: DEBOUNCE });
  });

  it('a flip from A to B and back to A rolls nothing, for B was never applied', async () => {
    await space.apply(configMap('flip', { v: 'A' }), deployment('flip', auto(), usingEnvFrom('flip')));
    await inStep(space, 'Deployment/flip', ['ConfigMap/flip']);
    const rollouts = await RolloutCount.from(space, 'Deployment/flip');
    await space.setData('ConfigMap/flip', { v: 'B' });
    await space.setData('ConfigMap/flip', { v: 'A' });
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(0);
    const outcome = (await reroll.outcomes(space, 'Deployment/flip')).at(-1);
    expect(outcome).toMatchObject({ state: 'unchanged', reason: 'InStep' });
  });

  it('ten changes of one source are one rollout, with the last data', async () => {
    await space.apply(configMap('ten', { v: '0' }), deployment('ten', auto(), usingEnvFrom('ten')));
    await inStep(space, 'Deployment/ten', ['ConfigMap/ten']);
    const rollouts = await RolloutCount.from(space, 'Deployment/ten');
    for (let change = 1; change <= 10; change += 1) await space.setData('ConfigMap/ten', { v: `${change}` });
    await inStep(space, 'Deployment/ten', ['ConfigMap/ten']);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
  });

  it('changes of two sources are one patch, and the same jobs again change nothing', async () => {
    const sources = ['ConfigMap/two', 'Secret/two'] as const;
    await space.apply(
      configMap('two', { v: '1' }),
      secret('two', { v: '1' }),
      deployment('two', auto(), usingEnvFrom('two'), usingVolume('Secret/two')),
    );
    await inStep(space, 'Deployment/two', sources);
    const rollouts = await RolloutCount.from(space, 'Deployment/two');
    await Promise.all(sources.map((source) => space.setData(source, { v: '2' })));
    const rolled = await inStep(space, 'Deployment/two', sources);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
    const names = Object.keys(markerVariables(rolled)['app'] ?? {}).sort();
    expect(names).toEqual(['STAKATER_TWO_CONFIGMAP', 'STAKATER_TWO_SECRET']);

    const workload = keyIn(space, 'Deployment/two');
    const jobs = sources.map((source) => ({ workload, since: Date.now(), source: keyIn(space, source) }));
    for (let round = 0; round < 2; round += 1) {
      await reroll.queues.enqueueReloads(jobs);
      await reroll.queues.enqueueChanges(
        jobs.map(({ source }) => source),
        Date.now(),
      );
      await reroll.idle();
    }
    // Not all annotations: the Deployment's controller writes its revision there when it comes to it.
    const after = await space.get('Deployment/two');
    expect(after.metadata.annotations?.[RECORD_ANNOTATION]).toBe(
      rolled.metadata.annotations?.[RECORD_ANNOTATION],
    );
    expect(markerVariables(after)).toEqual(markerVariables(rolled));
    expect(await rollouts.now()).toBe(1);
  });
});
