import { randomUUID } from 'node:crypto';
import { type KubeClient, MERGE_PATCH } from '@reroll/kube/client/connection';
import {
  apiVersionOf,
  collectionPath,
  objectPath,
  type KubeResource,
  NAMESPACES,
} from '@reroll/kube/objects';
import { KubeError } from '@reroll/kube/client/errors';
import { create, persistently } from '../api.ts';
import { forEach } from '../each.ts';
import { CONFIG_MAPS, DEPLOYMENTS } from '../kinds.ts';
import { configMapManifest, namespaceManifest } from '../manifests.ts';

/** A few busy clients, not a botnet. */
const LANES = 4;

export type Annotations = Readonly<Record<string, string>>;

export interface DeploymentDraft {
  readonly annotations?: Annotations | undefined;
  /** ConfigMaps that its container takes its environment from. */
  readonly configMaps?: readonly string[] | undefined;
}

/** Somebody with the rights of a namespace editor, and no others. */
export class Tenant {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly #lanes: number;

  /** `lanes`: requests at a time. Default 4. */
  constructor(client: KubeClient, namespace: string, lanes = LANES) {
    this.client = client;
    this.namespace = namespace;
    this.#lanes = lanes;
  }

  async createNamespace(): Promise<void> {
    await create(this.client, collectionPath(NAMESPACES), namespaceManifest(this.namespace));
  }

  async createConfigMap(name: string, annotations: Annotations = {}): Promise<void> {
    const id = { namespace: this.namespace, name };
    const manifest = configMapManifest(id, randomUUID()) as { metadata: object };
    const metadata = { ...manifest.metadata, annotations };
    await create(this.client, collectionPath(CONFIG_MAPS, this.namespace), { ...manifest, metadata });
  }

  /** Without pods. */
  async createDeployment(name: string, draft: DeploymentDraft): Promise<void> {
    const path = collectionPath(DEPLOYMENTS, this.namespace);
    await create(this.client, path, deploymentManifest({ namespace: this.namespace, name }, draft));
  }

  /** Gives a ConfigMap data that it never had. */
  async change(name: string): Promise<void> {
    await this.patch(CONFIG_MAPS, name, { data: { value: randomUUID() } });
  }

  /** A merge patch. */
  async patch(resource: KubeResource, name: string, body: unknown): Promise<void> {
    const path = objectPath(resource, { namespace: this.namespace, name });
    await persistently(() => this.client.patch(path, body, { contentType: MERGE_PATCH }));
  }

  /** A merge patch of the status, as controllers write it. */
  async patchStatus(resource: KubeResource, name: string, status: unknown): Promise<void> {
    const path = `${objectPath(resource, { namespace: this.namespace, name })}/status`;
    await persistently(() => this.client.patch(path, { status }, { contentType: MERGE_PATCH }));
  }

  /** That it is gone already is as good. */
  async delete(resource: KubeResource, name: string): Promise<void> {
    const path = objectPath(resource, { namespace: this.namespace, name });
    try {
      await persistently(() => this.client.request({ method: 'DELETE', path }));
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 404) throw error;
    }
  }

  /** Does something for `0` to `count - 1`, a few at a time. */
  async each(count: number, work: (index: number) => Promise<void>): Promise<void> {
    const indexes = Array.from({ length: count }, (_, index) => index);
    await forEach(indexes, { concurrency: this.#lanes }, work);
  }

  /** Does something as often as it can, a few at a time, until the signal fires. */
  async keepDoing(signal: AbortSignal, work: (turn: number) => Promise<void>): Promise<void> {
    let turn = 0;
    const lane = async (): Promise<void> => {
      while (!signal.aborted) {
        turn += 1;
        // oxlint-disable-next-line no-await-in-loop -- one request after the other
        await work(turn);
      }
    };
    await Promise.all(Array.from({ length: this.#lanes }, lane));
  }

  /** Deletes the namespace with all that is in it, without waiting for that. */
  async leave(): Promise<void> {
    const path = `${collectionPath(NAMESPACES)}/${this.namespace}`;
    await persistently(() => this.client.request({ method: 'DELETE', path }));
  }
}

function deploymentManifest(id: { namespace: string; name: string }, draft: DeploymentDraft): unknown {
  const labels = { app: id.name };
  const envFrom = (draft.configMaps ?? []).map((name) => ({ configMapRef: { name, optional: true } }));
  return {
    apiVersion: apiVersionOf(DEPLOYMENTS),
    kind: 'Deployment',
    metadata: { ...id, labels, annotations: draft.annotations },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'app', image: 'registry.k8s.io/pause:3.10', envFrom }] },
      },
    },
  };
}
