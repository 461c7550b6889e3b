import { expect } from 'vitest';
import {
  argoRollout,
  auto,
  configMap,
  cronJob,
  daemonSet,
  deployment,
  deploymentConfig,
  job,
  secret,
  statefulSet,
  usingEnvFrom,
  usingVolume,
  type Builder,
  type Modifier,
} from '../../support/objects/builders.ts';
import type { KubeObject, Manifest, Space } from '../../support/kube.ts';
import { classAuto, mounting, providerClass, status } from '../../support/objects/provider-classes.ts';
import { markerVariables, recordOf } from '../../support/objects/rollouts.ts';
import { eventually } from '../../support/wait.ts';

/** Of what a change reloads, a builder each. */
const KINDS: Readonly<Record<string, Builder>> = {
  Deployment: deployment,
  StatefulSet: statefulSet,
  DaemonSet: daemonSet,
  Rollout: argoRollout,
  DeploymentConfig: deploymentConfig,
  CronJob: cronJob,
  Job: job,
};

const WITHIN = { within: 60_000 };

/** Has one workload of every kind, but for some, reloaded for a ConfigMap and a Secret that both change. */
export async function reloadEveryKind(
  space: Space,
  labels: Readonly<Record<string, string>>,
  but: readonly string[] = [],
): Promise<void> {
  const uses: readonly Modifier[] = [auto(), usingEnvFrom('map'), usingVolume('Secret/secret')];
  await space.apply(configMap('map', { v: '1' }, { labels }), secret('secret', { v: '1' }, { labels }));
  const kinds = Object.entries(KINDS).filter(([kind]) => !but.includes(kind));
  await space.applyAll(kinds.map(([kind, build]) => build(kind.toLowerCase(), ...uses)));
  const before = await Promise.all(kinds.map(([kind]) => recorded(space, kind)));
  await space.setData('ConfigMap/map', { v: '2' });
  await space.setData('Secret/secret', { v: '2' });
  await Promise.all(before.map((object) => rolled(space, object)));
}

async function recorded(space: Space, kind: string): Promise<KubeObject> {
  const ref = `${kind}/${kind.toLowerCase()}`;
  return await eventually(async () => {
    const object = await space.get(ref);
    expect(Object.keys(recordOf(object)), `record of ${ref}`).toHaveLength(2);
    return { ...object, kind };
  }, WITHIN);
}

/** A CronJob by a Job of its own, a Job by another one in its place, the rest by their templates. */
async function rolled(space: Space, before: KubeObject): Promise<void> {
  const { name, uid } = before.metadata;
  await eventually(
    async () => {
      const now = await space.get(`${before.kind}/${name}`);
      if (before.kind === 'Job') return now.metadata.uid !== uid;
      if (before.kind !== 'CronJob') return Object.keys(markerVariables(now)['app'] ?? {}).length > 0;
      const jobs = await space.list('Job');
      return jobs.some(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
    },
    { ...WITHIN, what: `${before.kind} to be rolled in ${space.name}` },
  );
}

/** The same for a SecretProviderClass whose pods rotate; the labels are of what the pods mount. */
export async function reloadForProviderClass(
  space: Space,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const mounted = (version: string): Manifest => {
    const manifest = status('pod', 'vault', version);
    return { ...manifest, metadata: { ...manifest.metadata, labels } } as Manifest;
  };
  const workload = deployment('mounts', classAuto(), mounting('vault'));
  await space.apply(providerClass('vault'), mounted('v1'), workload);
  await eventually(async () => Object.keys(recordOf(await space.get('Deployment/mounts'))).length === 1, {
    ...WITHIN,
    what: `the class to be recorded in ${space.name}`,
  });
  await space.apply(mounted('v2'));
  await eventually(
    async () => Object.keys(markerVariables(await space.get('Deployment/mounts'))).length > 0,
    { ...WITHIN, what: `the class to roll its workload in ${space.name}` },
  );
}
