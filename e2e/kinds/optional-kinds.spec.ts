import { expect, it } from 'vitest';
import {
  argoRollout,
  auto,
  configMap,
  deployment,
  deploymentConfig,
  usingEnvFrom,
  type Builder,
} from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { installCrd, removeCrd } from '../support/objects/crds.ts';
import { connect, namespace } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { change, countRollouts, inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** Kinds that come with a CRD or an aggregated API, which may come and go. */
const KINDS: Readonly<Record<string, Builder>> = { Rollout: argoRollout, DeploymentConfig: deploymentConfig };
const ASKED = ['--is-argo-rollouts=true', '--is-openshift=auto', '--discovery-interval=200ms'];

const REFS = Object.keys(KINDS);

it('a kind that the API server does not have yet harms nothing, is noticed when it is installed, gone when it is removed, and followed again when it is back', async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const refs = (name: string): string[] => REFS.map((kind) => `${kind}/${name}`);
  const isInstalledAndFollowed = async (name: string, v: string): Promise<void> => {
    for (const kind of REFS) await installCrd(space.client, kind);
    await space.apply(...Object.values(KINDS).map((build) => build(name, auto(), usingEnvFrom('cm'))));
    for (const ref of refs(name)) await inStep(space, ref, ['ConfigMap/cm']);
    const rollouts = await countRollouts(space, refs(name));
    await change(space, 'ConfigMap/cm', v, refs(name));
    await settled(reroll, space);
    expect(await rollouts()).toEqual([1, 1]);
  };
  const removeAll = async (): Promise<void> => {
    for (const kind of REFS) await removeCrd(space.client, kind);
  };
  cleanUp(removeAll);
  const reroll = await startReroll({ cluster, namespaces: [space], watchers: 2, watcherFlags: ASKED });
  await space.apply(configMap('cm', { v: '1' }), deployment('api', auto(), usingEnvFrom('cm')));
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  await settled(reroll, space);
  expect(reroll.logs()).not.toMatch(/level=(warning|error).*kind=(Rollout|DeploymentConfig)/);

  await isInstalledAndFollowed('later', '2');
  await removeAll();
  await eventually(async () => {
    for await (const portion of reroll.catalog.eachWorkload((key) => /^(Rollout|Depl.*Config)/.test(key)))
      expect(portion).toEqual([]);
    return true;
  });
  await Promise.all(reroll.watchers.map((watcher) => watcher.ready()));
  await change(space, 'ConfigMap/cm', '3', ['Deployment/api']);
  await isInstalledAndFollowed('again', '4');
  await reroll.stop();
});
