import { beforeAll, describe, expect, it } from 'vitest';
import {
  argoRollout,
  auto,
  configMap,
  deployment,
  deploymentConfig,
  usingEnvFrom,
  type Builder,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { installCrd, removeCrd } from '../support/objects/crds.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** Kinds that come with a CRD or an aggregated API, which may come and go. */
const KINDS: Readonly<Record<string, Builder>> = { Rollout: argoRollout, DeploymentConfig: deploymentConfig };
const ASKED = ['--is-argo-rollouts=true', '--is-openshift=auto', '--discovery-interval=200ms'];

let space: Space;

async function installAll(): Promise<void> {
  for (const kind of Object.keys(KINDS)) await installCrd(space.client, kind);
}

async function removeAll(): Promise<void> {
  for (const kind of Object.keys(KINDS)) await removeCrd(space.client, kind);
}

function workloads(name: string): ReturnType<Builder>[] {
  return Object.values(KINDS).map((build) => build(name, auto(), usingEnvFrom('cm')));
}

describe('while the API server does not have the kinds', () => {
  let reroll: Reroll;

  beforeAll(async () => {
    const cluster = sharedCluster();
    space = await namespace(connect(cluster));
    reroll = await startReroll({ cluster, namespaces: [space], watchers: 2, watcherFlags: ASKED });
  });

  it('the watchers are ready, everything else rolls, and nothing is wrong', async () => {
    await space.apply(configMap('cm', { v: '1' }), deployment('api', auto(), usingEnvFrom('cm')));
    await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
    await settled(reroll, space);
    expect(reroll.logs()).not.toMatch(/level=(warning|error).*kind=(Rollout|DeploymentConfig)/);
  });

  it('one that is installed later is noticed without a restart, and rolled once for a change', async () => {
    await installAll();
    await space.apply(...workloads('later'));
    for (const kind of Object.keys(KINDS)) await inStep(space, `${kind}/later`, ['ConfigMap/cm']);
    const counts = await Promise.all(
      Object.keys(KINDS).map((kind) => RolloutCount.from(space, `${kind}/later`)),
    );
    await space.setData('ConfigMap/cm', { v: '2' });
    for (const kind of Object.keys(KINDS)) await inStep(space, `${kind}/later`, ['ConfigMap/cm']);
    await settled(reroll, space);
    expect(await Promise.all(counts.map((count) => count.now()))).toEqual([1, 1]);
  });

  it('one that is removed takes its workloads with it, and harms nothing else', async () => {
    await removeAll();
    await eventually(async () => {
      for await (const portion of reroll.catalog.eachWorkload((key) => /^(Rollout|Depl.*Config)/.test(key)))
        expect(portion).toEqual([]);
      return true;
    });
    await Promise.all(reroll.watchers.map((watcher) => watcher.ready()));
    await space.setData('ConfigMap/cm', { v: '3' });
    await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
    await settled(reroll, space);
  });

  it('one that is installed again is followed again', async () => {
    await installAll();
    await space.apply(...workloads('again'));
    for (const kind of Object.keys(KINDS)) await inStep(space, `${kind}/again`, ['ConfigMap/cm']);
    await space.setData('ConfigMap/cm', { v: '4' });
    for (const kind of Object.keys(KINDS)) await inStep(space, `${kind}/again`, ['ConfigMap/cm']);
    await reroll.stop();
    await removeAll();
  });
});
