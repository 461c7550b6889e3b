import { beforeAll, describe, expect, it } from 'vitest';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotation-keys';
import { REQUEST_ANNOTATION } from '@reroll/core/reload/request';
import { reloadEveryKind } from '../install/support/exercise.ts';
import {
  annotated,
  argoRollout,
  auto,
  configMap,
  cronJob,
  deployment,
  usingEnvFrom,
} from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { installCrd, removeCrd } from '../support/objects/crds.ts';
import { connect, namespace, type KubeObject, type Manifest, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { inStep, markerText, markerVariables } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** Every way of reloading, by a worker with the rights of the chart and under its policies. */
const CRDS = ['Rollout', 'DeploymentConfig'];
const FOLLOWED = ['--is-Argo-Rollouts=true', '--is-openshift=true', '--discovery-interval=200ms'];

beforeAll(async () => {
  const client = connect(sharedCluster());
  for (const kind of CRDS) {
    await installCrd(client, kind);
    cleanUp(() => removeCrd(client, kind));
  }
});

async function recorded(space: Space, manifest: Manifest): Promise<KubeObject> {
  const { name } = manifest.metadata;
  await space.apply(configMap(name, { v: '1' }), manifest);
  return await inStep(space, `${manifest.kind}/${name}`, [`ConfigMap/${name}`]);
}

async function refusals(reroll: Reroll, space: Space): Promise<readonly string[]> {
  const outcomes = await reroll.outcomes(space);
  return outcomes
    .filter(({ reason }) => ['Forbidden', 'Invalid'].includes(reason))
    .map(({ workload }) => workload);
}

describe('under the policies of the chart', () => {
  let space: Space;
  let reroll: Reroll;

  beforeAll(async () => {
    space = await namespace(connect(sharedCluster()));
    reroll = await startReroll({
      cluster: sharedCluster(),
      namespaces: [space],
      chart: { reloader: { isArgoRollouts: true, isOpenshift: 'auto', reloadOnDelete: true } },
      watcherFlags: FOLLOWED,
      flags: ['--reload-on-delete=true'],
    });
  });

  it('workloads of every kind are reloaded', async () => {
    await reloadEveryKind(space, {});
    expect(await refusals(reroll, space)).toEqual([]);
  });

  it('a Deployment is paused, and resumed', async () => {
    await recorded(
      space,
      deployment('paused', auto(), annotated({ [KEYS.pausePeriod]: '1s' }), usingEnvFrom('paused')),
    );
    await space.setData('ConfigMap/paused', { v: '2' });
    await inStep(space, 'Deployment/paused', ['ConfigMap/paused']);
    await eventually(() => reroll.logs().includes(`Successfully resumed deployment 'paused'`));
    const { spec, metadata } = await space.get('Deployment/paused');
    expect((spec as { paused?: boolean }).paused ?? false).toBe(false);
    expect(metadata.annotations?.[KEYS.pausedAt]).toBeUndefined();
    expect(await refusals(reroll, space)).toEqual([]);
  });

  it('a Rollout is restarted by its field', async () => {
    const restarted = annotated({ [KEYS.rolloutStrategy]: 'restart' });
    await recorded(space, argoRollout('restarted', auto(), restarted, usingEnvFrom('restarted')));
    await space.setData('ConfigMap/restarted', { v: '2' });
    const after = await inStep(space, 'Rollout/restarted', ['ConfigMap/restarted']);
    expect((after.spec as { restartAt?: string }).restartAt).toBeDefined();
    expect(await refusals(reroll, space)).toEqual([]);
  });

  it('a source that is deleted takes its variable along', async () => {
    await recorded(space, deployment('gone', auto(), usingEnvFrom('gone')));
    await space.setData('ConfigMap/gone', { v: '2' });
    const marked = await inStep(space, 'Deployment/gone', ['ConfigMap/gone']);
    expect(markerVariables(marked)).toMatchObject({
      app: { STAKATER_GONE_CONFIGMAP: expect.any(String) as string },
    });
    await space.delete('ConfigMap/gone');
    await eventually(async () => {
      expect(markerVariables(await space.get('Deployment/gone'))).toEqual({});
      return true;
    });
    expect(await refusals(reroll, space)).toEqual([]);
  });

  it('a manual reload is done', async () => {
    await recorded(space, deployment('asked', auto(), usingEnvFrom('asked')));
    const requests = new ReloadRequests(reroll.redis, reroll.catalog.keys.requests);
    const key = keyIn(space, 'Deployment/asked');
    const { id } = await requests.put(key, { actor: 'ann', reason: 'a test' });
    await reroll.queues.enqueueReloadNow(key, Date.now());
    await eventually(async () => {
      const { spec } = await space.get('Deployment/asked');
      expect(spec.template.metadata?.annotations?.[REQUEST_ANNOTATION]).toBe(id);
      return true;
    });
    expect(await refusals(reroll, space)).toEqual([]);
  });
});

it('under the policies of other values, templates are marked by an annotation of that key, those of CronJobs too', async () => {
  const space = await namespace(connect(sharedCluster()));
  const key = 'example.com/from';
  const reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    chart: {
      reloader: {
        reloadStrategy: 'annotations',
        cronJobStrategy: 'patch',
        custom_annotations: { lastReloadedFrom: key },
      },
    },
    flags: [`--last-reloaded-from-annotation=${key}`],
    workerFlags: ['--reload-strategy=annotations', '--cronjob-strategy=patch'],
  });
  await recorded(space, deployment('annotated', auto(), usingEnvFrom('annotated')));
  await recorded(space, cronJob('nightly', auto(), usingEnvFrom('nightly')));
  for (const name of ['annotated', 'nightly']) await space.setData(`ConfigMap/${name}`, { v: '2' });
  const marked = await inStep(space, 'Deployment/annotated', ['ConfigMap/annotated']);
  const nightly = await inStep(space, 'CronJob/nightly', ['ConfigMap/nightly']);
  const { jobTemplate } = nightly.spec as unknown as { jobTemplate: { spec: KubeObject['spec'] } };
  for (const { template } of [marked.spec, jobTemplate.spec])
    expect(template.metadata?.annotations?.[key]).toContain('"type":"CONFIGMAP"');
  expect(markerText(marked)).toBeUndefined();
  expect(await refusals(reroll, space)).toEqual([]);
});
