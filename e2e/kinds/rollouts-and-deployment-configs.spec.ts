import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ChangeEntry } from '@reroll/core/history/entries';
import { AuditLog, requestName } from '../support/audit.ts';
import {
  annotated,
  argoRollout,
  auto,
  configMap,
  deployment,
  deploymentConfig,
  naming,
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
  change,
  countRollouts,
  inStep,
  markerAnnotation,
  markerVariables,
  recordOf,
  settled,
} from '../support/objects/rollouts.ts';

/** Argo Rollouts and DeploymentConfigs: what every kind does, and what only they do. */
const KINDS: Readonly<Record<string, Builder>> = { Rollout: argoRollout, DeploymentConfig: deploymentConfig };
const ASKED = ['--is-Argo-Rollouts=true', '--discovery-interval=200ms'];
const STRATEGY = 'reloader.stakater.com/rollout-strategy';
const SHA1_OF_2 = createHash('sha1').update('v=2').digest('hex');

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

/** Each group of tests has a namespace; all share one install, but for the last. */
let space: Space;
let restarted: Space;
let referring: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  const client = connect(cluster);
  for (const kind of Object.keys(KINDS)) {
    await installCrd(client, kind);
    cleanUp(() => removeCrd(client, kind));
  }
  [space, restarted, referring] = [await namespace(client), await namespace(client), await namespace(client)];
  await space.apply(configMap('cm', { v: '1' }));
  for (const kind of Object.keys(KINDS)) await put(space, kind, 'web', auto(), usingEnvFrom('cm'));
  reroll = await startReroll({
    cluster,
    namespaces: [space, restarted, referring],
    watcherFlags: [...ASKED, '--is-openshift=true'],
  });
});

it.each([
  ['env-vars', { app: { STAKATER_CM_CONFIGMAP: SHA1_OF_2 } }],
  ['annotations', { kind: 'ConfigMap', name: 'cm', hash: SHA1_OF_2 }],
] as const)(
  "both kinds are adopted, a change is one patch of each, with the incumbent's marker, and a change back reloads again: %s",
  async (strategy, marker) => {
    const refs = Object.keys(KINDS).map((kind) => `${kind}/web`);
    const rollouts = await countRollouts(space, refs);
    if (strategy === 'annotations')
      await reroll.replace('worker', undefined, ['--reload-strategy=annotations']);
    for (const ref of refs) await inStep(space, ref, ['ConfigMap/cm']);
    await settled(reroll, space);
    expect(await rollouts()).toEqual([0, 0]);
    const before = await Promise.all(refs.map((ref) => space.get(ref)));
    const audit = new AuditLog(sharedCluster());
    await change(space, 'ConfigMap/cm', '2', refs);
    await settled(reroll, space);
    expect(await rollouts()).toEqual([1, 1]);
    const requests = audit
      .of('reroll-worker')
      .filter(({ objectRef }) => objectRef?.namespace === space.name && objectRef.name === 'web')
      .map(requestName)
      .filter((name) => !name.startsWith('GET'));
    expect(requests.sort()).toEqual(['PATCH deploymentconfigs', 'PATCH rollouts']);
    for (const [index, ref] of refs.entries()) {
      const after = await space.get(ref);
      expect(after.metadata.generation).toBe((before[index]?.metadata.generation ?? 0) + 1);
      expect(strategy === 'env-vars' ? markerVariables(after) : markerAnnotation(after)).toMatchObject(
        marker,
      );
    }
    await change(space, 'ConfigMap/cm', '1', refs);
    await settled(reroll, space);
    expect(await rollouts()).toEqual([2, 2]);
    if (strategy === 'annotations') await reroll.replace('worker');
  },
);

describe('a Rollout with rollout-strategy', () => {
  let space: Space;

  beforeAll(async () => {
    space = restarted;
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

  it('restart: a change back restarts it again; one that its owner has restarted it for is only recorded, and taking restartAt away is no restart', async () => {
    const before = await space.get('Rollout/restart');
    await change(space, 'ConfigMap/cm', '1', ['Rollout/restart']);
    const after = await space.get('Rollout/restart');
    expect(restartAt(after)).not.toBe(restartAt(before));
    expect(after.metadata.generation).toBe(before.metadata.generation + 1);
    await settled(reroll, space);

    const later = new Date(Date.now() + 5_000).toISOString();
    let owners = after;
    await reroll.replace('worker', async () => {
      await space.setData('ConfigMap/cm', { v: '3' });
      owners = await space.patch('Rollout/restart', { spec: { restartAt: later } });
    });
    await inStep(space, 'Rollout/restart', ['ConfigMap/cm']);
    await settled(reroll, space);
    const brought = await space.get('Rollout/restart');
    expect(restartAt(brought)).toBe(later);
    expect(brought.metadata.generation).toBe(owners.metadata.generation);
    const reasons = (await reroll.outcomes(space, 'Rollout/restart')).map(({ reason }) => reason);
    expect(reasons).toContain('BroughtByOwner');

    await reroll.replace('worker', async () => {
      await space.setData('ConfigMap/cm', { v: '4' });
      await space.patch('Rollout/restart', { spec: { restartAt: null } });
    });
    expect(restartAt(await inStep(space, 'Rollout/restart', ['ConfigMap/cm']))).toBeDefined();
  });

  it('anything else: gets the marker', async () => {
    const end = await space.get('Rollout/rollout');
    expect(restartAt(end)).toBeUndefined();
    expect(Object.keys(markerVariables(end)['app'] ?? {})).toEqual(['STAKATER_CM_CONFIGMAP']);
  });
});

describe('a Rollout with a workloadRef', () => {
  let space: Space;

  beforeAll(() => {
    space = referring;
  });

  it('is reloaded by way of its Deployment, if that is annotated: once, and the Rollout is not written', async () => {
    await space.apply(configMap('web', { v: '1' }), deployment('web', auto(), usingEnvFrom('web')));
    const before = await byReference('web', naming('web'));
    await inStep(space, 'Deployment/web', ['ConfigMap/web']);
    const count = await RolloutCount.from(space, 'Deployment/web');
    await changed('web', '2');
    expect(await count.now()).toBe(1);
    expect((await space.get('Rollout/web')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    const change = await lastChange('web');
    expect(change?.woken.map(({ workload }) => workload)).toEqual([keyIn(space, 'Deployment/web')]);
    expect(change?.leftAlone).toMatchObject([
      { workload: keyIn(space, 'Rollout/web'), reason: 'WorkloadRefAnnotated' },
    ]);
  });

  it("is reloaded by its own annotations too: the Deployment's template is written, once", async () => {
    await space.apply(configMap('named', { v: '1' }), deployment('named', usingEnvFrom('named')));
    const before = await byReference('named', naming('named'));
    await inStep(space, 'Deployment/named', ['ConfigMap/named']);
    const count = await RolloutCount.from(space, 'Deployment/named');
    await changed('named', '2');
    expect(await count.now()).toBe(1);
    const { app } = markerVariables(await space.get('Deployment/named'));
    expect(app).toEqual({ STAKATER_NAMED_CONFIGMAP: SHA1_OF_2 });
    const after = await space.get('Rollout/named');
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    await changed('named', '1');
    expect(await count.now()).toBe(2);
    await space.event('Rollout/named', 'Reloaded');
  });

  it('follows its Deployment to other sources, though that comes later', async () => {
    await byReference('late', auto());
    await settled(reroll, space);
    const sources = [configMap('late', { v: '1' }), configMap('late-2', { v: '1' })];
    await space.apply(...sources, deployment('late', usingEnvFrom('late')));
    await inStep(space, 'Deployment/late', ['ConfigMap/late']);
    await space.apply(deployment('late', usingEnvFrom('late-2')));
    await inStep(space, 'Deployment/late', ['ConfigMap/late-2']);
    const count = await RolloutCount.from(space, 'Deployment/late');
    await space.setData('ConfigMap/late', { v: '2' });
    await settled(reroll, space);
    expect(await count.now()).toBe(0);
    await changed('late', '2', 'late-2');
    expect(await count.now()).toBe(1);
  });

  it('to anything but a Deployment is told that this is not followed, and nothing is written', async () => {
    await space.apply(configMap('pods', { v: '1' }));
    const before = await byReference('pods', { kind: 'PodTemplate', apiVersion: 'v1' }, naming('pods'));
    await space.event('Rollout/pods', 'WorkloadRefUnsupported');
    await space.setData('ConfigMap/pods', { v: '2' });
    await settled(reroll, space);
    expect((await lastChange('pods'))?.leftAlone).toMatchObject([{ reason: 'WorkloadRefUnsupported' }]);
    expect((await space.get('Rollout/pods')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  async function changed(name: string, v: string, source = name): Promise<void> {
    await change(space, `ConfigMap/${source}`, v, [`Deployment/${name}`]);
    await settled(reroll, space);
  }

  async function lastChange(name: string): Promise<ChangeEntry | undefined> {
    return (await reroll.changes(space, `ConfigMap/${name}`)).at(-1);
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
  it('neither is asked for, watched or reloaded, though the API server has it', async () => {
    const cluster = sharedCluster();
    const space = await namespace(connect(cluster));
    await space.apply(configMap('cm', { v: '1' }));
    for (const kind of Object.keys(KINDS)) await put(space, kind, 'web', auto(), usingEnvFrom('cm'));
    await reroll.stop();
    const audit = new AuditLog(cluster);
    // As it is without a word for Rollouts; the harness says --is-openshift=false.
    const without = await startReroll({ cluster, namespaces: [space] });
    await space.setData('ConfigMap/cm', { v: '2' });
    await settled(without, space);
    for (const kind of Object.keys(KINDS)) expect(recordOf(await space.get(`${kind}/web`))).toEqual({});
    // A watch is in the log when it has ended.
    await without.stop();
    expect(audit.of('reroll-').map(requestName)).toContain('WATCH deployments');
    const isTheirs = (uri: string): boolean => /argoproj|openshift/.test(uri);
    expect(audit.of('reroll-').filter(({ requestURI }) => isTheirs(requestURI))).toEqual([]);
  });
});
