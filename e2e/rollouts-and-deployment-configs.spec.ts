import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditLog, requestName } from './support/audit.ts';
import {
  MATCHING,
  annotated,
  argoRollout,
  auto,
  configMap,
  deployment,
  deploymentConfig,
  naming,
  searching,
  secret,
  usingEnvFrom,
  usingVolume,
  type Builder,
  type Modifier,
} from './support/builders.ts';
import { cleanUp } from './support/cleanup.ts';
import { sharedCluster } from './support/cluster.ts';
import { installCrd, removeCrd } from './support/crds.ts';
import { connect, namespace, type KubeObject, type Manifest, type Space } from './support/kube.ts';
import { keyIn, startReroll, type Reroll } from './support/reroll.ts';
import { RolloutCount, inStep, markerText, markerVariables, recordOf, settled } from './support/rollouts.ts';

/** Argo Rollouts and DeploymentConfigs: what every kind does, and what only they do. */
const KINDS: Readonly<Record<string, Builder>> = { Rollout: argoRollout, DeploymentConfig: deploymentConfig };
const ASKED = ['--is-Argo-Rollouts=true', '--discovery-interval=200ms'];
const STRATEGY = 'reloader.stakater.com/rollout-strategy';
const SHA1_OF_2 = createHash('sha1').update('v=2').digest('hex');

const WAYS: Readonly<Record<string, readonly Modifier[]>> = {
  auto: [auto(), usingEnvFrom('auto')],
  named: [naming('named')],
  search: [searching(), usingVolume('search')],
  secret: [auto(), usingEnvFrom('Secret/secret')],
};
const ALL = Object.keys(WAYS);
const CASES = Object.keys(KINDS).flatMap((kind) => ALL.map((way) => ({ kind, way })));

function sourceOf(way: string): string {
  return way === 'secret' ? 'Secret/secret' : `ConfigMap/${way}`;
}

function restartAt({ spec }: KubeObject): string | undefined {
  return (spec as { restartAt?: string }).restartAt;
}

async function put(
  space: Space,
  kind: string,
  name: string,
  ...modifiers: readonly Modifier[]
): Promise<void> {
  await space.apply((KINDS[kind] as Builder)(name, ...modifiers));
}

beforeAll(async () => {
  const client = connect(sharedCluster());
  for (const kind of Object.keys(KINDS)) {
    await installCrd(client, kind);
    cleanUp(() => removeCrd(client, kind));
  }
});

describe.each(['env-vars', 'annotations'] as const)('with the strategy %s', (strategy) => {
  let space: Space;
  let reroll: Reroll;
  const counts = new Map<string, RolloutCount>();

  beforeAll(async () => {
    const cluster = sharedCluster();
    space = await namespace(connect(cluster));
    await space.apply(
      configMap('auto', { v: '1' }),
      configMap('named', { v: '1' }),
      configMap('search', { v: '1' }, MATCHING),
      secret('secret', { v: '1' }),
    );
    for (const { kind, way } of CASES) await put(space, kind, way, ...(WAYS[way] ?? []));
    for (const { kind, way } of CASES)
      counts.set(`${kind}/${way}`, await RolloutCount.from(space, `${kind}/${way}`));
    const workerFlags = [`--reload-strategy=${strategy}`];
    const watcherFlags = [...ASKED, '--is-openshift=true'];
    reroll = await startReroll({ cluster, namespaces: [space], workerFlags, watcherFlags });
  });

  afterAll(() => reroll.stop());

  it.each(ALL)('adopting rolls nothing (%s)', async (way) => {
    for (const kind of Object.keys(KINDS)) await inStep(space, `${kind}/${way}`, [sourceOf(way)]);
    await settled(reroll, space);
    expect(await rollouts(way)).toEqual([0, 0]);
  });

  it.each(ALL)("a change is one write of each, with the incumbent's marker (%s)", async (way) => {
    const refs = Object.keys(KINDS).map((kind) => `${kind}/${way}`);
    const before = await Promise.all(refs.map((ref) => space.get(ref)));
    await space.setData(sourceOf(way), { v: '2' });
    for (const ref of refs) await inStep(space, ref, [sourceOf(way)]);
    await settled(reroll, space);
    expect(await rollouts(way)).toEqual([1, 1]);
    for (const [index, ref] of refs.entries()) {
      const after = await space.get(ref);
      expect(after.metadata.generation).toBe((before[index]?.metadata.generation ?? 0) + 1);
      expect(markerOf(after)).toEqual(expectedMarker(way));
    }
  });

  it.each(ALL)('a change back rolls again (%s)', async (way) => {
    await space.setData(sourceOf(way), { v: '1' });
    for (const kind of Object.keys(KINDS)) await inStep(space, `${kind}/${way}`, [sourceOf(way)]);
    await settled(reroll, space);
    expect(await rollouts(way)).toEqual([2, 2]);
  });

  /** Of the Rollout and of the DeploymentConfig. */
  function rollouts(way: string): Promise<(number | undefined)[]> {
    const count = async (kind: string): Promise<number | undefined> => counts.get(`${kind}/${way}`)?.now();
    return Promise.all(Object.keys(KINDS).map(count));
  }

  function markerOf(object: KubeObject): unknown {
    if (strategy === 'env-vars') return markerVariables(object);
    const { type, name, hash } = JSON.parse(markerText(object) ?? '{}') as Record<string, unknown>;
    return { type, name, hash };
  }

  function expectedMarker(way: string): unknown {
    const [type = ''] = sourceOf(way).toUpperCase().split('/');
    if (strategy === 'annotations') return { type, name: way, hash: SHA1_OF_2 };
    return { app: { [`STAKATER_${way.toUpperCase()}_${type}`]: SHA1_OF_2 } };
  }
});

describe('a Rollout with rollout-strategy', () => {
  let space: Space;
  let reroll: Reroll;

  beforeAll(async () => {
    const cluster = sharedCluster();
    space = await namespace(connect(cluster));
    reroll = await startReroll({ cluster, namespaces: [space], watcherFlags: ASKED });
    await space.apply(configMap('cm', { v: '1' }));
    await put(space, 'Rollout', 'restart', annotated({ [STRATEGY]: 'restart' }), auto(), usingEnvFrom('cm'));
    await put(space, 'Rollout', 'rollout', annotated({ [STRATEGY]: 'rollout' }), auto(), usingEnvFrom('cm'));
    for (const name of ['restart', 'rollout']) await inStep(space, `Rollout/${name}`, ['ConfigMap/cm']);
  });

  afterAll(() => reroll.stop());

  it('restart: is restarted by spec.restartAt, in UTC, and its template stays as it is', async () => {
    const before = await space.get('Rollout/restart');
    expect(restartAt(before)).toBeUndefined();
    const started = Date.now();
    await space.setData('ConfigMap/cm', { v: '2' });
    const after = await inStep(space, 'Rollout/restart', ['ConfigMap/cm']);
    expect(restartAt(after)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    // Later than every pod that may have the old data.
    expect(Date.parse(restartAt(after) ?? '')).toBeGreaterThan(started);
    expect({ ...after.spec, restartAt: null }).toEqual({ ...before.spec, restartAt: null });
    await settled(reroll, space);
    const end = await space.get('Rollout/restart');
    expect(end.metadata.generation).toBe(before.metadata.generation + 1);
    expect(restartAt(end)).toBe(restartAt(after));
  });

  it('restart: a change back restarts it again', async () => {
    const before = await space.get('Rollout/restart');
    await space.setData('ConfigMap/cm', { v: '1' });
    const after = await inStep(space, 'Rollout/restart', ['ConfigMap/cm']);
    expect(restartAt(after)).not.toBe(restartAt(before));
    expect(after.metadata.generation).toBe(before.metadata.generation + 1);
  });

  it('restart: a change that its owner has restarted it for is only recorded', async () => {
    await stopWorkers();
    await space.setData('ConfigMap/cm', { v: '3' });
    const later = new Date(Date.now() + 5_000).toISOString();
    const owners = await space.patch('Rollout/restart', { spec: { restartAt: later } });
    reroll.start('worker');
    await inStep(space, 'Rollout/restart', ['ConfigMap/cm']);
    await settled(reroll, space);
    const end = await space.get('Rollout/restart');
    expect(restartAt(end)).toBe(later);
    expect(end.metadata.generation).toBe(owners.metadata.generation);
    const reasons = (await reroll.outcomes(space, 'Rollout/restart')).map(({ reason }) => reason);
    expect(reasons).toContain('BroughtByOwner');
  });

  it('restart: taking restartAt away is no restart, so a change before it is not taken for brought', async () => {
    await stopWorkers();
    await space.setData('ConfigMap/cm', { v: '4' });
    await space.patch('Rollout/restart', { spec: { restartAt: null } });
    reroll.start('worker');
    const after = await inStep(space, 'Rollout/restart', ['ConfigMap/cm']);
    expect(restartAt(after)).toBeDefined();
  });

  it('anything else: gets the marker', async () => {
    const end = await space.get('Rollout/rollout');
    expect(restartAt(end)).toBeUndefined();
    expect(Object.keys(markerVariables(end)['app'] ?? {})).toEqual(['STAKATER_CM_CONFIGMAP']);
  });

  async function stopWorkers(): Promise<void> {
    await settled(reroll, space);
    await Promise.all(reroll.workers.map((worker) => worker.stop()));
  }
});

describe('a Rollout with a workloadRef', () => {
  it('is rolled by way of its Deployment, if that is annotated: once, and the Rollout is not written', async () => {
    const cluster = sharedCluster();
    const space = await namespace(connect(cluster));
    await space.apply(configMap('cm', { v: '1' }), deployment('web', auto(), usingEnvFrom('cm')));
    const [before] = await space.apply(byReference('web', 'cm'));
    const reroll = await startReroll({ cluster, namespaces: [space], watcherFlags: ASKED });
    await inStep(space, 'Deployment/web', ['ConfigMap/cm']);
    const count = await RolloutCount.from(space, 'Deployment/web');
    await space.setData('ConfigMap/cm', { v: '2' });
    await inStep(space, 'Deployment/web', ['ConfigMap/cm']);
    await settled(reroll, space);
    expect(await count.now()).toBe(1);
    const after = await space.get('Rollout/web');
    expect(after.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    const [change] = (await reroll.changes(space, 'ConfigMap/cm')).slice(-1);
    expect(change?.woken.map(({ workload }) => workload)).toEqual([keyIn(space, 'Deployment/web')]);
    expect(change?.leftAlone).toMatchObject([
      { workload: keyIn(space, 'Rollout/web'), reason: 'NoContainer' },
    ]);
    await reroll.stop();
  });

  /** It has no template of its own, and names the ConfigMap in its annotations. */
  function byReference(name: string, configMapName: string): Manifest {
    const { metadata, ...rest } = argoRollout(name, naming(configMapName));
    const workloadRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
    return { ...rest, metadata, spec: { replicas: 1, workloadRef } } as Manifest;
  }
});

describe('switched off', () => {
  it('neither is asked for, watched or rolled, though the API server has it', async () => {
    const cluster = sharedCluster();
    const space = await namespace(connect(cluster));
    await space.apply(configMap('cm', { v: '1' }));
    for (const kind of Object.keys(KINDS)) await put(space, kind, 'web', auto(), usingEnvFrom('cm'));
    const audit = new AuditLog(cluster);
    // As it is without a word for Rollouts; the harness says --is-openshift=false.
    const reroll = await startReroll({ cluster, namespaces: [space] });
    await space.setData('ConfigMap/cm', { v: '2' });
    await settled(reroll, space);
    for (const kind of Object.keys(KINDS)) expect(recordOf(await space.get(`${kind}/web`))).toEqual({});
    // A watch is in the log when it has ended.
    await reroll.stop();
    expect(audit.of('reroll-').map(requestName)).toContain('WATCH deployments');
    const isTheirs = (uri: string): boolean => /argoproj|openshift/.test(uri);
    expect(audit.of('reroll-').filter(({ requestURI }) => isTheirs(requestURI))).toEqual([]);
  });
});
