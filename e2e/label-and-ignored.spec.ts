import { beforeAll, describe, expect, it } from 'vitest';
import { AuditLog } from './support/audit.ts';
import { auto, configMap, deployment, secret, usingEnvFrom } from './support/builders.ts';
import { sharedCluster } from './support/cluster.ts';
import { connect, namespace, type Space } from './support/kube.ts';
import { startReroll, type Reroll } from './support/reroll.ts';
import { RolloutCount, inStep, recordOf } from './support/rollouts.ts';
import { eventually } from './support/wait.ts';

const LABELS = { labels: { team: 'a' } };

describe('--namespaces-to-ignore and --resource-label-selector', () => {
  let watched: Space;
  let ignored: Space;
  let reroll: Reroll;

  /** Resolves when everything that happened so far is dealt with: a labelled control source rolled its workload. */
  async function settled(): Promise<void> {
    const n = String((changes += 1));
    await watched.apply(
      configMap('control', { n }, LABELS),
      deployment('control', auto(), usingEnvFrom('control')),
    );
    await inStep(watched, 'Deployment/control', ['ConfigMap/control']);
    await reroll.idle();
  }
  let changes = 0;

  beforeAll(async () => {
    const cluster = sharedCluster();
    watched = await namespace(connect(cluster));
    ignored = await namespace(connect(cluster));
    reroll = await startReroll({
      cluster,
      namespaces: 'all',
      flags: [
        '--resource-label-selector="team:*"',
        '--reload-on-delete=true',
        '--reload-strategy=annotations',
      ],
      watcherFlags: [`--namespaces-to-ignore=${ignored.name}`],
    });
  });

  it('leave out all of an ignored namespace, which is in no answer of the API server', async () => {
    const audit = new AuditLog(sharedCluster());
    for (const space of [ignored, watched])
      await space.apply(configMap('cm', { v: '1' }, LABELS), deployment('web', auto(), usingEnvFrom('cm')));
    await inStep(watched, 'Deployment/web', ['ConfigMap/cm']);
    const rollouts = await RolloutCount.from(ignored, 'Deployment/web');
    await ignored.setData('ConfigMap/cm', { v: '2' });
    await settled();
    expect(await rollouts.now()).toBe(0);
    expect(recordOf(await ignored.get('Deployment/web'))).toEqual({});
    expect(await reroll.catalog.sources([`ConfigMap/${ignored.name}/cm`])).toEqual(new Map());
    expect(audit.of('reroll-').filter(({ objectRef }) => objectRef?.namespace === ignored.name)).toEqual([]);
    expect(reroll.logs()).toContain(`will detect changes in all namespaces except: ${ignored.name}.`);
  });

  it('leave out a source without the labels, as it is and when it changes', async () => {
    await watched.apply(
      secret('plain', { v: '1' }),
      configMap('mine', { v: '1' }, LABELS),
      deployment('plain', auto(), usingEnvFrom('Secret/plain'), usingEnvFrom('mine')),
    );
    await inStep(watched, 'Deployment/plain', ['ConfigMap/mine']);
    const rollouts = await RolloutCount.from(watched, 'Deployment/plain');
    await watched.setData('Secret/plain', { v: '2' });
    await watched.setData('ConfigMap/mine', { v: '2' });
    const now = await inStep(watched, 'Deployment/plain', ['ConfigMap/mine']);
    await settled();
    expect(await rollouts.now()).toBe(1);
    expect(Object.keys(recordOf(now))).toEqual(['ConfigMap/mine']);
  });

  it('a label that goes is no deletion, and with it the source comes back with what changed meanwhile', async () => {
    await watched.apply(
      configMap('flip', { v: '1' }, LABELS),
      deployment('flip', auto(), usingEnvFrom('flip')),
    );
    await inStep(watched, 'Deployment/flip', ['ConfigMap/flip']);
    const rollouts = await RolloutCount.from(watched, 'Deployment/flip');
    await watched.patch('ConfigMap/flip', { metadata: { labels: { team: null } } });
    await watched.setData('ConfigMap/flip', { v: '2' });
    await settled();
    expect(await rollouts.now()).toBe(0);
    await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
    await reroll.start('watcher').ready();
    await settled();
    expect(await rollouts.now()).toBe(0);
    await watched.patch('ConfigMap/flip', { metadata: { labels: { team: 'b' } } });
    await inStep(watched, 'Deployment/flip', ['ConfigMap/flip']);
    await settled();
    expect(await rollouts.now()).toBe(1);
  });

  it('a source with the labels that is deleted is one', async () => {
    await watched.apply(
      configMap('gone', { v: '1' }, LABELS),
      deployment('gone', auto(), usingEnvFrom('gone')),
    );
    await inStep(watched, 'Deployment/gone', ['ConfigMap/gone']);
    const rollouts = await RolloutCount.from(watched, 'Deployment/gone');
    await watched.delete('ConfigMap/gone');
    await eventually(async () => expect(await rollouts.now()).toBe(1));
    await settled();
    expect(await rollouts.now()).toBe(1);
  });
});
