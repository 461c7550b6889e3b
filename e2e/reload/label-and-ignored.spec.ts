import { beforeAll, describe, expect, it } from 'vitest';
import { AuditLog } from '../support/audit.ts';
import { auto, configMap, deployment, secret, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const LABELS = { labels: { team: 'a' } };

describe('--namespaces-to-ignore and --resource-label-selector', () => {
  let watched: Space;
  let ignored: Space;
  let reroll: Reroll;
  let audit: AuditLog;

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
    audit = new AuditLog(cluster);
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
    const keys = (['Secret/plain', 'ConfigMap/mine'] as const).map((ref) => keyIn(watched, ref));
    expect([...(await reroll.catalog.sources(keys)).keys()]).toEqual([keyIn(watched, 'ConfigMap/mine')]);
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

  it('are in every request for more than one source', async () => {
    // A stream is in the log once it has ended.
    await reroll.stop();
    const asked = audit
      .of('reroll-')
      .filter(
        ({ verb, objectRef }) => verb !== 'get' && /configmaps|secrets/u.test(objectRef?.resource ?? ''),
      );
    expect(asked.length).toBeGreaterThan(0);
    for (const { requestURI } of asked) expect(requestURI).toContain('labelSelector=team');
  });
});

it.each([
  ['with --reload-on-create', ['--reload-on-create=true'], 1],
  ['without it', [], 0],
])('a label gained %s counts as a creation, or not', async (_how, more, expected) => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const flags = ['--resource-label-selector=team', ...more];
  const reroll = await startReroll({ cluster, namespaces: [space], flags });
  await space.apply(
    configMap('base', { v: '1' }, LABELS),
    configMap('bare', { v: '1' }),
    deployment('web', auto(), usingEnvFrom('base'), usingEnvFrom('bare')),
  );
  await inStep(space, 'Deployment/web', ['ConfigMap/base']);
  await reroll.idle();
  const rollouts = await RolloutCount.from(space, 'Deployment/web');
  await space.patch('ConfigMap/bare', { metadata: LABELS });
  await inStep(space, 'Deployment/web', ['ConfigMap/bare']);
  await space.setData('ConfigMap/base', { v: '2' });
  await inStep(space, 'Deployment/web', ['ConfigMap/base']);
  await reroll.idle();
  expect(await rollouts.now()).toBe(expected + 1);
});
