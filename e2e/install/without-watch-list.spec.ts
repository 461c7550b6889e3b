import { beforeAll, describe, expect, it } from 'vitest';
import {
  auto,
  configMap,
  deployment,
  secret,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';
import { installCluster } from './support/release.ts';

/** The API server of this project has the feature WatchList switched off (`global-setup.ts`). */
let space: Space;
let reroll: Reroll;
const API = 'Deployment/api';
const SOURCES = ['ConfigMap/settings', 'Secret/token'] as const;

beforeAll(async () => {
  const cluster = installCluster();
  space = await namespace(connect(cluster));
  await space.apply(
    configMap('settings', { v: '1' }),
    secret('token', { v: '1' }),
    deployment('api', auto(), usingEnvFrom('settings'), usingVolume('Secret/token')),
  );
  reroll = await startReroll({ cluster, namespaces: [space] });
  await inStep(space, API, SOURCES);
});

describe('on an API server that streams no lists', () => {
  it('everything is listed in pages', () => {
    const lists = reroll.logs().match(/msg=listed .*/g) ?? [];
    expect(lists.length).toBeGreaterThan(5);
    expect(lists.filter((line) => !line.includes('streamed=false'))).toEqual([]);
  });

  it.each(SOURCES)('a change of %s is one rollout', async (source) => {
    const count = await RolloutCount.from(space, API);
    await space.setData(source, { v: '2' });
    await inStep(space, API, SOURCES);
    await settled(reroll, space);
    expect(await count.now()).toBe(1);
  });

  it('what changed while no watcher was there is found by the lists of the next', async () => {
    const count = await RolloutCount.from(space, API);
    for (const watcher of reroll.watchers) await watcher.stop();
    await space.setData('ConfigMap/settings', { v: '3' });
    reroll.start('watcher');
    await reroll.ready();
    await inStep(space, API, SOURCES);
    await settled(reroll, space);
    expect(await count.now()).toBe(1);
  });
});
