import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import type { Status } from '@reroll/shared/api/status';
import type { Workload } from '@reroll/shared/api/workloads';
import { MERGE_PATCH } from '@reroll/kube/client/connection';
import { collectionPath, objectPath, type KubeResource } from '@reroll/kube/objects';
import {
  CONFIG_MAP,
  configMapManifest,
  NAMESPACE,
  resourceOf,
  SECRET,
  secretManifest,
  WORKLOADS,
  workloadManifest,
} from '../../demo/src/shop.ts';
import type { Stage } from '../../demo/src/stage.ts';
import { TOKEN, type Api } from './api.ts';

const CONFIG_MAPS: KubeResource = { group: '', version: 'v1', plural: 'configmaps' };
const SECRETS: KubeResource = { group: '', version: 'v1', plural: 'secrets' };
const DEPLOYMENTS: KubeResource = { group: 'apps', version: 'v1', plural: 'deployments' };
/** Its new pods find no node, and its deadline is short. */
const STUCK = 'ledger';
/** Its reloads await an approval. */
const HELD = 'invoices';

/** The file of static tokens that lets `TOKEN` do everything. */
export function tokensFile(folder: string): string {
  const file = join(folder, 'tokens.json');
  const sha256 = createHash('sha256').update(TOKEN).digest('hex');
  writeFileSync(file, JSON.stringify([{ name: 'alice', sha256, access: 'write', namespaces: ['*'] }]));
  return file;
}

/** What happened in the shop, for whoever shows it. */
export interface Shop {
  /** Id of the change of the Secret. */
  readonly change: string;
  /** Changes the ConfigMap once more. */
  readonly changeAgain: () => Promise<void>;
}

/** Opens the shop of the demo and lets things happen in it: changes, a reload by hand, a rollout that is stuck. */
export async function playShop(stage: Stage, api: Api): Promise<Shop> {
  await open(stage);
  await stage.wait('the shop to be adopted', async () => await isAdopted(api));
  const banner = async (text: string): Promise<void> =>
    await patch(stage, { kind: CONFIG_MAPS, name: CONFIG_MAP }, { data: { banner: text } });
  await banner('Sale');
  await untilRolledOut(stage, api, `ConfigMap/${NAMESPACE}/${CONFIG_MAP}`);
  await patch(stage, { kind: CONFIG_MAPS, name: STUCK }, { data: { currency: 'SEK' } });
  await stage.wait(`${STUCK} to be stuck`, async () => (await workload(api, STUCK)).rollout === 'stuck');
  await api.post(`workloads/Deployment/${NAMESPACE}/storefront/reload`, {
    reason: 'certificate of the sidecar renewed',
  });
  await patch(stage, { kind: SECRETS, name: SECRET }, { stringData: { 'api-key': 'demo-key-2' } });
  const change = await untilRolledOut(stage, api, `Secret/${NAMESPACE}/${SECRET}`);
  return { change, changeAgain: async () => await banner('Winter sale') };
}

/** Adds a workload to the shop whose reload is held. */
export async function holdOne(stage: Stage, api: Api): Promise<void> {
  await own(stage, HELD, { annotations: { 'reroll.dev/approval': 'required' }, pods: {} });
  await stage.wait(`${HELD} to be adopted`, async () => await isRecorded(api, HELD));
  await patch(stage, { kind: CONFIG_MAPS, name: HELD }, { data: { currency: 'SEK' } });
  await stage.wait(`${HELD} to be held, and counted`, async () => {
    const { owed } = await api.get<Status>('status');
    return owed?.workloads === 1 && (await workload(api, HELD)).hold !== null;
  });
}

async function open(stage: Stage): Promise<void> {
  const { client } = stage;
  await client.post(collectionPath(CONFIG_MAPS, NAMESPACE), configMapManifest());
  await client.post(collectionPath(SECRETS, NAMESPACE), secretManifest());
  await own(stage, STUCK, {
    annotations: {},
    deadline: { progressDeadlineSeconds: 2 },
    pods: { nodeSelector: { disk: 'fast' } },
  });
  for (const each of WORKLOADS)
    await client.post(collectionPath(resourceOf(each), NAMESPACE), workloadManifest(each));
}

/** A Deployment with a ConfigMap of its own. */
async function own(
  { client }: Stage,
  name: string,
  by: {
    annotations: Readonly<Record<string, string>>;
    deadline?: { progressDeadlineSeconds: number };
    pods: object;
  },
): Promise<void> {
  const labels = { app: name };
  const envFrom = [{ configMapRef: { name } }];
  const annotations = { 'reloader.stakater.com/auto': 'true', ...by.annotations };
  await client.post(collectionPath(CONFIG_MAPS, NAMESPACE), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: NAMESPACE, name },
    data: { currency: 'EUR' },
  });
  await client.post(collectionPath(DEPLOYMENTS, NAMESPACE), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: NAMESPACE, name, labels, annotations },
    spec: {
      replicas: 2,
      ...by.deadline,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { ...by.pods, containers: [{ name: 'app', image: 'registry.k8s.io/pause:3.10', envFrom }] },
      },
    },
  });
}

async function patch(stage: Stage, of: { kind: KubeResource; name: string }, body: unknown): Promise<void> {
  const path = objectPath(of.kind, { namespace: NAMESPACE, name: of.name });
  await stage.client.patch(path, body, { contentType: MERGE_PATCH });
}

async function workload(api: Api, name: string): Promise<Workload> {
  return await api.get<Workload>(`workloads/Deployment/${NAMESPACE}/${name}`);
}

async function isAdopted(api: Api): Promise<boolean> {
  for (const name of ['storefront', 'checkout', 'mailer', STUCK])
    if (!(await isRecorded(api, name))) return false;
  return true;
}

/** Whether every source that reloads it is in its record. */
async function isRecorded(api: Api, name: string): Promise<boolean> {
  const { sourcesInDetail } = await workload(api, name);
  const rolling = sourcesInDetail.filter(({ rolls }) => rolls);
  return rolling.length > 0 && rolling.every(({ recorded }) => recorded !== null);
}

/** Resolves with the id of the newest change of a source when every workload of it that rolls has rolled out. */
async function untilRolledOut(stage: Stage, api: Api, source: string): Promise<string> {
  let id = '';
  await stage.wait(`the change of ${source} to be rolled out`, async () => {
    const { items } = await api.get<{ items: ChangeSummary[] }>(`changes?limit=1&source=${source}`);
    const [change] = items;
    id = change?.id ?? '';
    const { rolledOut = 0, skipped: _skipped, ...others } = change?.states ?? {};
    return rolledOut > 0 && Object.keys(others).length === 0;
  });
  return id;
}
