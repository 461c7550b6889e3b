import { type KubeClient, MERGE_PATCH } from '@reroll/kube/client/connection';
import { collectionPath, NAMESPACES } from '@reroll/kube/objects';
import { create, persistently } from './api.ts';
import type { Bench } from './bench.ts';
import { forEach } from './each.ts';
import { CONFIG_MAPS, DEPLOYMENTS, SECRETS } from './kinds.ts';
import {
  completeStatus,
  configMapManifest,
  namespaceManifest,
  secretManifest,
  workloadManifest,
} from './manifests.ts';
import type { SecretLoad } from './scenarios.ts';
import { type ObjectId, type Source, type WorkShape, idText, layOut, namespaceNames } from './work.ts';

/** Workloads that exist in the cluster, and the present values of their sources. */
export interface WorkSet {
  readonly shape: WorkShape;
  readonly sources: readonly Source[];
  /** By `<namespace>/<name>`. */
  readonly values: Map<string, string>;
}

const CONCURRENCY = 64;
const INITIAL = 'initial';

type Into = Pick<Bench, 'api' | 'signal' | 'log' | 'cluster' | 'generations'>;

/** Creates everything of a shape: namespaces, then sources, then workloads, as people do. */
export async function createWorkSet(bench: Into, shape: WorkShape): Promise<WorkSet> {
  const { api, signal } = bench;
  const each = { concurrency: CONCURRENCY, signal };
  const sources = layOut(shape);
  const began = performance.now();
  await forEach(namespaceNames(shape), each, async (name) => {
    await create(api.client, collectionPath(NAMESPACES), namespaceManifest(name));
  });
  await forEach(sources, each, async (source) => {
    const path = collectionPath(CONFIG_MAPS, source.namespace);
    await create(api.client, path, configMapManifest(source, INITIAL));
  });
  await createWorkloads(bench, sources);
  const seconds = (performance.now() - began) / 1000;
  bench.log(`created ${shape.workloads} workloads and ${sources.length} sources in ${seconds.toFixed(1)} s`);
  return { shape, sources, values: new Map(sources.map((source) => [idText(source), INITIAL])) };
}

async function createWorkloads(bench: Into, sources: readonly Source[]): Promise<void> {
  const workloads = sources.flatMap((source) => source.workloads.map((id) => ({ id, source: source.name })));
  const each = { concurrency: CONCURRENCY, signal: bench.signal };
  await forEach(workloads, each, async ({ id, source }) => {
    const path = collectionPath(DEPLOYMENTS, id.namespace);
    await create(bench.api.client, path, workloadManifest(id, source, INITIAL));
    if (bench.cluster.pids.controllerManager === undefined) await complete(bench.api.client, path, id);
    bench.generations.set(idText(id), 1);
  });
}

/** Stands in for the controller where there is none. */
async function complete(client: KubeClient, path: string, { name }: ObjectId): Promise<void> {
  const status = completeStatus();
  await persistently(() => client.patch(`${path}/${name}/status`, status, { contentType: MERGE_PATCH }));
}

/** Secrets that nobody uses, spread over the namespaces of a set. */
export async function createSecrets(bench: Bench, set: WorkSet, load: SecretLoad): Promise<void> {
  const namespaces = namespaceNames(set.shape);
  const indexes = Array.from({ length: load.count }, (_, index) => index);
  const each = { concurrency: 16, signal: bench.signal };
  await forEach(indexes, each, async (index) => {
    const namespace = namespaces[index % namespaces.length] ?? '';
    const path = collectionPath(SECRETS, namespace);
    await create(bench.api.client, path, secretManifest({ namespace, name: `big-${index}` }, load.bytes));
  });
  bench.log(`created ${load.count} Secrets of ${load.bytes} bytes`);
}
