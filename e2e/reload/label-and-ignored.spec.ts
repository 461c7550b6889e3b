import { beforeAll, describe, expect, it } from 'vitest';
import { DELETED_MARKER_HASH } from '@reroll/core/marker/marker-hash';
import { AuditLog } from '../support/audit.ts';
import {
  auto,
  configMap,
  deployment,
  secret,
  usingEnvFrom,
  type Modifier,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, markerAnnotation, recordOf } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const LABELS = { labels: { team: 'a' } };

describe('--namespaces-to-ignore and --resource-label-selector', () => {
  let watched: Space;
  let ignored: Space;
  let reroll: Reroll;
  let audit: AuditLog;

  /** Resolves when everything that happened so far is dealt with: a labelled control source reloaded its workload. */
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

  /** A Deployment that uses a source with the labels, recorded. */
  async function labelled(name: string, ...modifiers: readonly Modifier[]): Promise<RolloutCount> {
    await watched.apply(
      configMap(name, { v: '1' }, LABELS),
      deployment(name, auto(), usingEnvFrom(name), ...modifiers),
    );
    await inStep(watched, `Deployment/${name}`, [`ConfigMap/${name}`]);
    return await RolloutCount.from(watched, `Deployment/${name}`);
  }

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
        '--reload-on-create=true',
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
    const rollouts = await labelled('flip');
    await watched.patch('ConfigMap/flip', { metadata: { labels: { team: null } } });
    await watched.setData('ConfigMap/flip', { v: '2' });
    await settled();
    expect(await rollouts.now()).toBe(0);
    await reroll.replace('watcher');
    await settled();
    expect(await rollouts.now()).toBe(0);
    await watched.patch('ConfigMap/flip', { metadata: { labels: { team: 'b' } } });
    await inStep(watched, 'Deployment/flip', ['ConfigMap/flip']);
    await settled();
    expect(await rollouts.now()).toBe(1);
  });

  it('a source that is deleted with the labels is, and one that gains them counts as created', async () => {
    const gone = await labelled('gone');
    await watched.apply(configMap('bare', { v: '1' }));
    const gains = await labelled('gains', usingEnvFrom('bare'));
    await watched.delete('ConfigMap/gone');
    await watched.patch('ConfigMap/bare', { metadata: LABELS });
    await inStep(watched, 'Deployment/gains', ['ConfigMap/bare']);
    await eventually(async () => expect(await gone.now()).toBe(1));
    await settled();
    expect([await gone.now(), await gains.now()]).toEqual([1, 1]);
    const marker = markerAnnotation(await watched.get('Deployment/gone'));
    expect(marker).toMatchObject({ name: 'gone', hash: DELETED_MARKER_HASH });
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
