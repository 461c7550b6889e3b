import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { AuditLog, requestName } from '../support/audit.ts';
import {
  annotated,
  argoRollout,
  auto,
  configMap,
  deployment,
  deploymentConfig,
  naming,
  source,
  usingEnvFrom,
  type Builder,
  type Modifier,
} from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { installCrd, removeCrd } from '../support/objects/crds.ts';
import { connect, namespace, type KubeObject, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import {
  RolloutCount,
  inStep,
  markerText,
  markerVariables,
  recordOf,
  settled,
} from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** Argo Rollouts and DeploymentConfigs: what every kind does, and what only they do. */
const KINDS: Readonly<Record<string, Builder>> = { Rollout: argoRollout, DeploymentConfig: deploymentConfig };
const ASKED = ['--is-Argo-Rollouts=true', '--discovery-interval=200ms'];
const STRATEGY = 'reloader.stakater.com/rollout-strategy';
const SHA1_OF_2 = createHash('sha1').update('v=2').digest('hex');

/** One way for each strategy: which of them reload is a matter of `core`. */
const WAYS: Readonly<Record<string, readonly Modifier[]>> = {
  auto: [auto(), usingEnvFrom('auto')],
  secret: [auto(), usingEnvFrom('Secret/secret')],
};

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

interface World {
  readonly space: Space;
  readonly reroll: Reroll;
  /** Of the Rollout and of the DeploymentConfig. */
  readonly counts: readonly RolloutCount[];
}

/** An install that finds one of each kind, and watches others too. */
async function begin(strategy: string, way: string, others: readonly Space[] = []): Promise<World> {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  await space.apply(source(sourceOf(way), { v: '1' }));
  for (const kind of Object.keys(KINDS)) await put(space, kind, way, ...(WAYS[way] ?? []));
  const counts = await Promise.all(
    Object.keys(KINDS).map((kind) => RolloutCount.from(space, `${kind}/${way}`)),
  );
  const reroll = await startReroll({
    cluster,
    namespaces: [space, ...others],
    workerFlags: [`--reload-strategy=${strategy}`],
    watcherFlags: [...ASKED, '--is-openshift=true'],
  });
  running.push(reroll);
  return { space, reroll, counts };
}

const running: Reroll[] = [];
/** Most of this file shares one install, with a namespace for each group. */
let main: World;
let restarted: Space;
let referring: Space;

beforeAll(async () => {
  const client = connect(sharedCluster());
  for (const kind of Object.keys(KINDS)) {
    await installCrd(client, kind);
    cleanUp(() => removeCrd(client, kind));
  }
  [restarted, referring] = [await namespace(client), await namespace(client)];
  main = await begin('env-vars', 'auto', [restarted, referring]);
});

describe.each([
  ['env-vars', 'auto'],
  ['annotations', 'secret'],
])('with the strategy %s', (strategy, used) => {
  let space: Space;
  let reroll: Reroll;
  let counts: readonly RolloutCount[];

  beforeAll(async () => {
    ({ space, reroll, counts } = strategy === 'env-vars' ? main : await begin(strategy, used));
  });

  it.each([used])('adopting rolls nothing (%s)', async (way) => {
    for (const kind of Object.keys(KINDS)) await inStep(space, `${kind}/${way}`, [sourceOf(way)]);
    await settled(reroll, space);
    expect(await rollouts()).toEqual([0, 0]);
  });

  it.each([used])("a change is one patch of each, with the incumbent's marker (%s)", async (way) => {
    const refs = Object.keys(KINDS).map((kind) => `${kind}/${way}`);
    const before = await Promise.all(refs.map((ref) => space.get(ref)));
    const audit = new AuditLog(sharedCluster());
    await space.setData(sourceOf(way), { v: '2' });
    for (const ref of refs) await inStep(space, ref, [sourceOf(way)]);
    await settled(reroll, space);
    expect(await rollouts()).toEqual([1, 1]);
    const requests = audit
      .of('reroll-worker')
      .filter(({ objectRef }) => objectRef?.namespace === space.name && objectRef.name === way)
      .map(requestName)
      .filter((name) => /rollouts|deploymentconfigs/u.test(name) && !name.startsWith('GET'));
    expect(requests.sort()).toEqual(['PATCH deploymentconfigs', 'PATCH rollouts']);
    for (const [index, ref] of refs.entries()) {
      const after = await space.get(ref);
      expect(after.metadata.generation).toBe((before[index]?.metadata.generation ?? 0) + 1);
      expect(markerOf(after)).toEqual(expectedMarker(way));
    }
  });

  it.each([used])('a change back rolls again (%s)', async (way) => {
    await space.setData(sourceOf(way), { v: '1' });
    for (const kind of Object.keys(KINDS)) await inStep(space, `${kind}/${way}`, [sourceOf(way)]);
    await settled(reroll, space);
    expect(await rollouts()).toEqual([2, 2]);
  });

  function rollouts(): Promise<number[]> {
    return Promise.all(counts.map((count) => count.now()));
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
    [space, reroll] = [restarted, main.reroll];
    await space.apply(configMap('cm', { v: '1' }));
    await put(space, 'Rollout', 'restart', annotated({ [STRATEGY]: 'restart' }), auto(), usingEnvFrom('cm'));
    await put(space, 'Rollout', 'rollout', annotated({ [STRATEGY]: 'rollout' }), auto(), usingEnvFrom('cm'));
    for (const name of ['restart', 'rollout']) await inStep(space, `Rollout/${name}`, ['ConfigMap/cm']);
  });

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
  const restarting = annotated({ [STRATEGY]: 'restart' });
  let space: Space;
  let reroll: Reroll;

  beforeAll(() => {
    [space, reroll] = [referring, main.reroll];
  });

  it('is rolled by way of its Deployment, if that is annotated: once, and the Rollout is not written', async () => {
    await space.apply(configMap('web', { v: '1' }), deployment('web', auto(), usingEnvFrom('web')));
    const before = await byReference('web', naming('web'));
    await inStep(space, 'Deployment/web', ['ConfigMap/web']);
    const count = await RolloutCount.from(space, 'Deployment/web');
    await space.setData('ConfigMap/web', { v: '2' });
    await inStep(space, 'Deployment/web', ['ConfigMap/web']);
    await settled(reroll, space);
    expect(await count.now()).toBe(1);
    expect((await space.get('Rollout/web')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    const change = await lastChange('web');
    expect(change?.woken.map(({ workload }) => workload)).toEqual([keyIn(space, 'Deployment/web')]);
    expect(change?.leftAlone).toMatchObject([
      { workload: keyIn(space, 'Rollout/web'), reason: 'WorkloadRefAnnotated' },
    ]);
  });

  it.each<[string, Modifier]>([
    ['auto', auto()],
    ['named', naming('named')],
  ])(
    "is rolled by its own annotations (%s) too: the Deployment's template is written, once",
    async (name, modifier) => {
      await space.apply(configMap(name, { v: '1' }), deployment(name, usingEnvFrom(name)));
      const before = await byReference(name, modifier);
      await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
      const count = await RolloutCount.from(space, `Deployment/${name}`);
      await changed(name, '2', 'Deployment');
      expect(await count.now()).toBe(1);
      expect(markerVariables(await space.get(`Deployment/${name}`)).app).toEqual({
        [`STAKATER_${name.toUpperCase()}_CONFIGMAP`]: SHA1_OF_2,
      });
      expect((await space.get(`Rollout/${name}`)).metadata.resourceVersion).toBe(
        before.metadata.resourceVersion,
      );
      await changed(name, '1', 'Deployment');
      expect(await count.now()).toBe(2);
      await eventually(async () =>
        (await space.events(`Rollout/${name}`)).some(({ reason }) => reason === 'Reloaded'),
      );
    },
  );

  it('is restarted, if it asks for that, and then the Deployment is not written', async () => {
    await space.apply(configMap('restart', { v: '1' }), deployment('restart', usingEnvFrom('restart')));
    await byReference('restart', auto(), restarting);
    await inStep(space, 'Rollout/restart', ['ConfigMap/restart']);
    const count = await RolloutCount.from(space, 'Deployment/restart');
    await changed('restart', '2', 'Rollout');
    const first = await space.get('Rollout/restart');
    expect(restartAt(first)).toBeDefined();
    await changed('restart', '1', 'Rollout');
    const second = await space.get('Rollout/restart');
    expect(restartAt(second)).not.toBe(restartAt(first));
    expect(second.metadata.generation).toBe(first.metadata.generation + 1);
    expect(await count.now()).toBe(0);
    expect(recordOf(await space.get('Deployment/restart'))).toEqual({});
  });

  it.each(['rollout', 'restart'])(
    'follows its Deployment to other sources, whichever was there first (%s)',
    async (strategy) => {
      const name = `late-${strategy}`;
      const written = strategy === 'restart' ? 'Rollout' : 'Deployment';
      await byReference(name, auto(), annotated({ [STRATEGY]: strategy }));
      await settled(reroll, space);
      await space.apply(
        configMap(name, { v: '1' }),
        configMap(`${name}-2`, { v: '1' }),
        deployment(name, usingEnvFrom(name)),
      );
      await inStep(space, `${written}/${name}`, [`ConfigMap/${name}`]);
      await space.apply(deployment(name, usingEnvFrom(`${name}-2`)));
      await inStep(space, `${written}/${name}`, [`ConfigMap/${name}-2`]);
      await space.setData(`ConfigMap/${name}`, { v: '2' });
      await settled(reroll, space);
      const before = await space.get(`${written}/${name}`);
      await changed(name, '2', written, `${name}-2`);
      expect((await lastReasons(name)).filter((reason) => reason === 'Reloaded')).toHaveLength(1);
      expect((await space.get(`${written}/${name}`)).metadata.generation).toBeGreaterThan(
        before.metadata.generation,
      );
    },
  );

  it('is restarted for a change that came while its Deployment was away, because its pods stayed', async () => {
    const manifest = deployment('away', usingEnvFrom('away'));
    await space.apply(configMap('away', { v: '1' }), manifest);
    await byReference('away', auto(), restarting);
    await inStep(space, 'Rollout/away', ['ConfigMap/away']);
    await space.delete('Deployment/away');
    await settled(reroll, space);
    await space.setData('ConfigMap/away', { v: '2' });
    await settled(reroll, space);
    expect(restartAt(await space.get('Rollout/away'))).toBeUndefined();
    await space.apply(manifest);
    expect(restartAt(await inStep(space, 'Rollout/away', ['ConfigMap/away']))).toBeDefined();
  });

  it('to anything but a Deployment is told that this is not followed, and nothing is written', async () => {
    await space.apply(configMap('pods', { v: '1' }));
    const before = await byReference('pods', { kind: 'PodTemplate', apiVersion: 'v1' }, naming('pods'));
    await eventually(async () =>
      (await space.events('Rollout/pods')).some(({ reason }) => reason === 'WorkloadRefUnsupported'),
    );
    await space.setData('ConfigMap/pods', { v: '2' });
    await settled(reroll, space);
    expect((await lastChange('pods'))?.leftAlone).toMatchObject([{ reason: 'WorkloadRefUnsupported' }]);
    expect((await space.get('Rollout/pods')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  async function changed(name: string, v: string, written: string, source = name): Promise<void> {
    await space.setData(`ConfigMap/${source}`, { v });
    await inStep(space, `${written}/${name}`, [`ConfigMap/${source}`]);
    await settled(reroll, space);
  }

  async function lastChange(
    name: string,
  ): Promise<Awaited<ReturnType<Reroll['changes']>>[number] | undefined> {
    return (await reroll.changes(space, `ConfigMap/${name}`)).at(-1);
  }

  async function lastReasons(name: string): Promise<string[]> {
    return (await reroll.outcomes(space, `Rollout/${name}`)).map(({ reason }) => reason);
  }

  /** A Rollout with the template of the object of its name. */
  async function byReference(
    name: string,
    ...how: readonly (Modifier | { kind: string; apiVersion: string })[]
  ): Promise<KubeObject> {
    const ref = how.find((each) => typeof each === 'object') ?? { kind: 'Deployment', apiVersion: 'apps/v1' };
    const modifiers = how.filter((each) => typeof each === 'function');
    const { metadata, ...rest } = argoRollout(name, ...modifiers);
    const manifest = { ...rest, metadata, spec: { replicas: 1, workloadRef: { ...ref, name } } };
    const [object] = await space.apply(manifest);
    return object as KubeObject;
  }
});

describe('switched off', () => {
  it('neither is asked for, watched or rolled, though the API server has it', async () => {
    const cluster = sharedCluster();
    const space = await namespace(connect(cluster));
    await space.apply(configMap('cm', { v: '1' }));
    for (const kind of Object.keys(KINDS)) await put(space, kind, 'web', auto(), usingEnvFrom('cm'));
    await Promise.all(running.map((each) => each.stop()));
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
