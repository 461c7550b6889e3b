import { beforeAll, describe, expect, it } from 'vitest';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import {
  auto,
  configMap,
  deployment,
  secret,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, adopted, inStep, markerVariables, settled } from '../support/objects/rollouts.ts';

/** A fifth is long enough that a test makes its next change within it, on a busy machine too. */
const DEBOUNCE = '7500ms';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space], debounce: DEBOUNCE });
});

describe('within the debounce', () => {
  it('a flip from A to B and back to A reloads nothing, and ten changes are one reload with the last data', async () => {
    const [flip, ten] = [await adopted(space, 'flip'), await adopted(space, 'ten')];
    for (const v of ['2', '1']) await space.setData('ConfigMap/flip', { v });
    for (let v = 2; v <= 11; v += 1) await space.setData('ConfigMap/ten', { v: `${v}` });
    await inStep(space, 'Deployment/ten', ['ConfigMap/ten']);
    await settled(reroll, space);
    expect([await flip.now(), await ten.now()]).toEqual([0, 1]);
    const outcome = (await reroll.outcomes(space, 'Deployment/flip')).at(-1);
    expect(outcome).toMatchObject({ state: 'unchanged', reason: 'InStep' });
  });

  it('five sources that are written one after the other, as helm does, are one patch', async () => {
    const names = ['one', 'two', 'three', 'four', 'five'].map((name) => `five-${name}`);
    await space.apply(
      ...names.map((name) => configMap(name, { v: '1' })),
      deployment('five', auto(), ...names.map((name) => usingEnvFrom(name))),
    );
    const sources = names.map((name) => `ConfigMap/${name}` as const);
    await inStep(space, 'Deployment/five', sources);
    const rollouts = await RolloutCount.from(space, 'Deployment/five');
    for (const source of sources) await space.setData(source, { v: '2' });
    await inStep(space, 'Deployment/five', sources);
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
    const reloaded = await inStep(space, 'Deployment/two', sources);
    const names = Object.keys(markerVariables(reloaded)['app'] ?? {}).sort();
    expect(names).toEqual(['STAKATER_TWO_CONFIGMAP', 'STAKATER_TWO_SECRET']);

    const workload = keyIn(space, 'Deployment/two');
    const jobs = sources.map((source) => ({ workload, since: Date.now(), source: keyIn(space, source) }));
    const changed = jobs.map(({ source }) => source);
    for (let round = 0; round < 2; round += 1) {
      await reroll.queues.enqueueReloads(jobs);
      await reroll.queues.enqueueChanges(changed, Date.now());
      await reroll.idle();
    }
    // Not all annotations: the Deployment's controller writes its revision there when it comes to it.
    const { annotations } = (await space.get('Deployment/two')).metadata;
    expect(annotations?.[RECORD_ANNOTATION]).toBe(reloaded.metadata.annotations?.[RECORD_ANNOTATION]);
    expect(await rollouts.now()).toBe(1);
  });
});
