import type { ObjectMeta } from '@reroll/core/model';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { collectionPath, objectPath } from '@reroll/kube/objects';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { META_INFO_LABELS, META_INFO_NAME, metaInfo } from '@reroll/shared/platform/process/meta-info';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';

const CONFIG_MAPS = { group: '', version: 'v1', plural: 'configmaps' };
/** Attempts, because watchers that start at the same time conflict. */
const TRIES = 3;

interface ConfigMap {
  readonly metadata: ObjectMeta;
}

type Client = Pick<KubeClient, 'get' | 'put' | 'post'>;

/** Writes the ConfigMap `reloader-meta-info`, as stakater/Reloader does at its start. Errors are only logged. */
export async function writeMetaInfo(client: Client, options: WatcherOptions, log: Logger): Promise<void> {
  const { reloaderNamespace: namespace } = options;
  if (namespace === '') {
    log.warning('RELOADER_NAMESPACE is not set, skipping meta info configmap creation');
    return;
  }
  try {
    await write(client, { namespace, data: metaInfo(options, process.version), log });
  } catch (error) {
    const code = error instanceof KubeError ? `${error.status} ${error.reason}` : 'unknown';
    log.warning('cannot write the meta info ConfigMap', { namespace, code });
  }
}

interface Wanted {
  readonly namespace: string;
  readonly data: Readonly<Record<string, string>>;
  readonly log: Logger;
}

async function write(client: Client, wanted: Wanted): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      await writeOnce(client, wanted);
      return;
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 409 || tried === TRIES) throw error;
    }
  }
}

/** Writes with the resourceVersion that was read, so no other write is lost. Keeps labels and annotations that others set. */
async function writeOnce(client: Client, { namespace, data, log }: Wanted): Promise<void> {
  const id = { namespace, name: META_INFO_NAME };
  const old = await read(client, objectPath(CONFIG_MAPS, id));
  const body = { apiVersion: 'v1', kind: 'ConfigMap', data };
  if (!old) {
    const metadata = { ...id, labels: META_INFO_LABELS };
    await client.post(collectionPath(CONFIG_MAPS, namespace), { ...body, metadata });
    return;
  }
  log.info('Meta info configmap already exists, updating it');
  const metadata = { ...old.metadata, labels: { ...old.metadata.labels, ...META_INFO_LABELS } };
  await client.put(objectPath(CONFIG_MAPS, id), { ...body, metadata });
}

async function read(client: Client, path: string): Promise<ConfigMap | null> {
  try {
    return (await client.get<ConfigMap>(path)).body;
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return null;
    throw error;
  }
}
