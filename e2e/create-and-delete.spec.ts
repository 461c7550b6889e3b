import { beforeAll, describe, expect, it } from 'vitest';
import { envVarName } from '../libs/shared/src/core/marker/env-var-name.ts';
import { LAST_RELOADED_FROM, lastReloadedFrom } from '../libs/shared/src/core/marker/last-reloaded-from.ts';
import { DELETED_MARKER_HASH, markerHash } from '../libs/shared/src/core/marker/marker-hash.ts';
import { DELETED_HASH } from '../libs/shared/src/core/record/record-hash.ts';
import { auto, configMap, deployment, naming, usingEnvFrom, type Modifier } from './support/builders.ts';
import { sharedCluster } from './support/cluster.ts';
import { connect, namespace, type KubeObject, type Space } from './support/kube.ts';
import { startReroll, type Reroll } from './support/reroll.ts';
import {
  RolloutCount,
  inStep,
  markerAnnotation,
  markerVariables,
  recordOf,
  settled,
} from './support/rollouts.ts';
import { eventually } from './support/wait.ts';

type Strategy = 'env-vars' | 'annotations';
const DATA = { v: '1' };

/** What the pod template says of a ConfigMap: a hash, or nothing. */
function markedWith(object: KubeObject, name: string, strategy: Strategy): string | undefined {
  if (strategy === 'env-vars') return markerVariables(object)['app']?.[envVarName('ConfigMap', name)];
  const marker = markerAnnotation(object);
  return marker?.name === name ? marker.hash : undefined;
}

async function recordedAsDeleted(space: Space, workload: string, source: string): Promise<KubeObject> {
  return await eventually(async () => {
    const object = await space.get(`Deployment/${workload}`);
    expect(recordOf(object)[`ConfigMap/${source}`]).toBe(DELETED_HASH);
    return object;
  });
}

describe.each<Strategy>(['env-vars', 'annotations'])(
  '--reload-on-create and --reload-on-delete under the strategy %s',
  (strategy) => {
    let space: Space;
    let reroll: Reroll;

    /** A workload that is known, and rolled before, so that it carries the marker of its source. */
    async function rolledBefore(name: string): Promise<RolloutCount> {
      await space.apply(configMap(name, { v: '0' }), deployment(name, auto(), usingEnvFrom(name)));
      await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
      await space.setData(`ConfigMap/${name}`, DATA);
      await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
      return await RolloutCount.from(space, `Deployment/${name}`);
    }

    beforeAll(async () => {
      const cluster = sharedCluster();
      space = await namespace(connect(cluster));
      const flags = [
        '--reload-on-create=True',
        '--reload-on-delete',
        'true',
        `--reload-strategy=${strategy}`,
      ];
      reroll = await startReroll({ cluster, namespaces: [space], flags });
    });

    it.each<[string, string, Modifier[]]>([
      ['uses', 'used', [auto(), usingEnvFrom('used-base'), usingEnvFrom('used')]],
      ['names', 'named', [naming('named-base'), naming('named-base,named')]],
      ['names by pattern', 'pattern', [naming('pattern(-base)?')]],
    ])(
      'a ConfigMap that a workload %s and that comes to exist rolls it once',
      async (_how, name, modifiers) => {
        const workload = `Deployment/${name}`;
        await space.apply(configMap(`${name}-base`, DATA), deployment(name, ...modifiers));
        await inStep(space, workload, [`ConfigMap/${name}-base`]);
        const rollouts = await RolloutCount.from(space, workload);
        await space.apply(configMap(name, DATA));
        const now = await inStep(space, workload, [`ConfigMap/${name}`]);
        await settled(reroll, space);
        expect(await rollouts.now()).toBe(1);
        expect(markedWith(now, name, strategy)).toBe(markerHash('ConfigMap', { data: DATA }));
      },
    );

    it('a ConfigMap that goes rolls once, and when it comes back as it was, once more', async () => {
      const rollouts = await rolledBefore('flip');
      await space.delete('ConfigMap/flip');
      const without = await recordedAsDeleted(space, 'flip', 'flip');
      expect(markedWith(without, 'flip', strategy)).toBe(
        strategy === 'env-vars' ? undefined : DELETED_MARKER_HASH,
      );
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(1);
      await space.apply(configMap('flip', DATA));
      const back = await inStep(space, 'Deployment/flip', ['ConfigMap/flip']);
      expect(markedWith(back, 'flip', strategy)).toBe(markerHash('ConfigMap', { data: DATA }));
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(2);
    });

    it('a ConfigMap that goes while no watcher is there rolls once', async () => {
      const rollouts = await rolledBefore('down');
      await reroll.idle();
      await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
      await space.delete('ConfigMap/down');
      await reroll.start('watcher').ready();
      await recordedAsDeleted(space, 'down', 'down');
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(1);
    });

    it('a workload that was never rolled for the ConfigMap that goes is rolled only if there is a way to tell', async () => {
      await space.apply(configMap('never', DATA), deployment('never', auto(), usingEnvFrom('never')));
      await inStep(space, 'Deployment/never', ['ConfigMap/never']);
      const rollouts = await RolloutCount.from(space, 'Deployment/never');
      await space.delete('ConfigMap/never');
      if (strategy === 'annotations') await recordedAsDeleted(space, 'never', 'never');
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(strategy === 'annotations' ? 1 : 0);
      await space.apply(configMap('never', { v: '2' }));
      await inStep(space, 'Deployment/never', ['ConfigMap/never']);
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(strategy === 'annotations' ? 2 : 1);
    });
  },
);

describe.each<Strategy>(['env-vars', 'annotations'])(
  '--sync-after-restart under the strategy %s',
  (strategy) => {
    it('rolls once what has neither record nor marker of what exists, and nothing at the next start', async () => {
      const cluster = sharedCluster();
      const space = await namespace(connect(cluster));
      const hash = markerHash('ConfigMap', { data: DATA });
      const marked: Modifier = (draft) => {
        if (strategy === 'env-vars') {
          for (const container of draft.spec.template.spec.containers)
            container.env = [{ name: envVarName('ConfigMap', 'cm'), value: hash }];
          return;
        }
        const source = { kind: 'ConfigMap', namespace: space.name, name: 'cm' } as const;
        const text = lastReloadedFrom({ ...source, hash, containerRefs: ['app'], observedAt: 1 });
        draft.spec.template.metadata.annotations = { [LAST_RELOADED_FROM]: text };
      };
      await space.apply(
        configMap('cm', DATA),
        deployment('marked', auto(), usingEnvFrom('cm'), marked),
        deployment('bare', auto(), usingEnvFrom('cm')),
      );
      const kept = await RolloutCount.from(space, 'Deployment/marked');
      const rolled = await RolloutCount.from(space, 'Deployment/bare');
      const flags = ['--reload-on-create=true', '--sync-after-restart', `--reload-strategy=${strategy}`];
      const reroll = await startReroll({ cluster, namespaces: [space], flags });
      for (const ref of ['Deployment/marked', 'Deployment/bare'] as const)
        await inStep(space, ref, ['ConfigMap/cm']);
      await settled(reroll, space);
      expect([await kept.now(), await rolled.now()]).toEqual([0, 1]);
      await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
      await reroll.start('watcher').ready();
      await settled(reroll, space);
      expect([await kept.now(), await rolled.now()]).toEqual([0, 1]);
    });
  },
);

describe('--resources-to-ignore=secrets', () => {
  it('switches creations and deletions of ConfigMaps not off', async () => {
    const cluster = sharedCluster();
    const space = await namespace(connect(cluster));
    const flags = ['--resources-to-ignore=secrets', '--reload-on-create=true', '--reload-on-delete=true'];
    await startReroll({ cluster, namespaces: [space], flags });
    await space.apply(
      configMap('base', DATA),
      deployment('web', auto(), usingEnvFrom('base'), usingEnvFrom('cm')),
    );
    await inStep(space, 'Deployment/web', ['ConfigMap/base']);
    const rollouts = await RolloutCount.from(space, 'Deployment/web');
    await space.apply(configMap('cm', DATA));
    await inStep(space, 'Deployment/web', ['ConfigMap/cm']);
    expect(await rollouts.now()).toBe(1);
    await space.delete('ConfigMap/cm');
    await recordedAsDeleted(space, 'web', 'cm');
    expect(await rollouts.now()).toBe(2);
  });
});
