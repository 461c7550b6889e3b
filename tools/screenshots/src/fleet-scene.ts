import { MERGE_PATCH } from '@reroll/kube/client/connection';
import { collectionPath, objectPath, type KubeResource } from '@reroll/kube/objects';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import type { Waves } from '@reroll/shared/api/waves';
import type { Source } from '@reroll/shared/api/workloads';
import type { Stage } from '../../demo/src/stage.ts';
import type { Api } from './api.ts';

export const FLEET = 'platform';
export const FLAGS = 'feature-flags';
const SOURCE = `ConfigMap/${FLEET}/${FLAGS}`;
const SIZE = 200;

const CONFIG_MAPS: KubeResource = { group: '', version: 'v1', plural: 'configmaps' };
const KINDS = {
  Deployment: { group: 'apps', version: 'v1', plural: 'deployments' },
  StatefulSet: { group: 'apps', version: 'v1', plural: 'statefulsets' },
} as const satisfies Readonly<Record<string, KubeResource>>;

/** Two hundred workloads without pods use one ConfigMap, which has changed in waves; some of them are held besides. Resolves with the id of the change. */
export async function playFleet(stage: Stage, api: Api): Promise<string> {
  const { client } = stage;
  await client.post('/api/v1/namespaces', { metadata: { name: FLEET } });
  await client.post(collectionPath(CONFIG_MAPS, FLEET), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      namespace: FLEET,
      name: FLAGS,
      annotations: { 'reroll.dev/waves': '5,60,100%', 'reroll.dev/bake': '10m' },
    },
    data: { checkout: 'old' },
  });
  for (let at = 0; at < SIZE; at += 1) {
    const kind = at % 8 === 7 ? 'StatefulSet' : 'Deployment';
    await client.post(collectionPath(KINDS[kind], FLEET), manifest(kind, at));
  }
  await stage.wait('the fleet to be adopted', async () => {
    const { workloadsInDetail } = await api.get<Source>(`sources/${SOURCE}`);
    const rolling = workloadsInDetail.filter(({ rolls }) => rolls);
    return workloadsInDetail.length === SIZE && rolling.every(({ recorded }) => recorded !== null);
  });
  const path = objectPath(CONFIG_MAPS, { namespace: FLEET, name: FLAGS });
  await client.patch(path, { data: { checkout: 'new' } }, { contentType: MERGE_PATCH });
  return await untilItWaits(stage, api);
}

/** The first wave is observed, and every other workload waits for it. Resolves with the id of the change. */
async function untilItWaits(stage: Stage, api: Api): Promise<string> {
  await stage.wait('the first wave to be reloaded', async () => {
    const { plan } = await api.get<Partial<Waves>>(`sources/${SOURCE}/waves`);
    return plan?.[0]?.state === 'baking';
  });
  const { items } = await api.get<{ items: ChangeSummary[] }>(`changes?limit=1&source=${SOURCE}`);
  return items[0]?.id ?? '';
}

function manifest(kind: keyof typeof KINDS, at: number): unknown {
  const name = `service-${String(at).padStart(3, '0')}`;
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { namespace: FLEET, name, labels, annotations: annotationsOf(at) },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'app',
              image: 'registry.k8s.io/pause:3.10',
              envFrom: [{ configMapRef: { name: FLAGS } }],
            },
          ],
        },
      },
    },
  };
}

function annotationsOf(at: number): Record<string, string> {
  if (at % 10 === 9) return {};
  const auto = { 'reloader.stakater.com/auto': 'true' };
  if (at % 50 === 8) return { ...auto, 'reroll.dev/approval': 'required' };
  return at % 90 === 12 ? { ...auto, 'reroll.dev/freeze': '; year-end' } : auto;
}
