import { randomBytes } from 'node:crypto';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import type { PodTemplate, SourceKind, WorkloadKind } from '@reroll/core/model';
import { KubeClient, MERGE_PATCH } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { collectionPath, namespacePath, objectPath, type KubeResource } from '@reroll/kube/objects';
import { cleanUp } from './cleanup.ts';
import { inLanes } from './in-lanes.ts';
import { eventually } from './wait.ts';

/** An object as the API serves it; `spec` as far as specs look into it. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly creationTimestamp: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly { readonly manager: string; readonly operation: string }[];
    readonly ownerReferences?: readonly {
      readonly uid: string;
      readonly kind: string;
      readonly controller?: boolean;
    }[];
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas?: number;
    readonly template: PodTemplate & { readonly metadata?: { readonly generation?: number } };
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

export interface KubeEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly source: { readonly component: string };
}

/** What a spec writes: name and kind; the namespace is that of the `Space` it is applied to. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const COLLECTIONS: Readonly<Record<string, KubeResource>> = {
  ConfigMap: { group: '', version: 'v1', plural: 'configmaps' },
  Secret: { group: '', version: 'v1', plural: 'secrets' },
  Pod: { group: '', version: 'v1', plural: 'pods' },
  Event: { group: '', version: 'v1', plural: 'events' },
  ResourceQuota: { group: '', version: 'v1', plural: 'resourcequotas' },
  Deployment: { group: 'apps', version: 'v1', plural: 'deployments' },
  StatefulSet: { group: 'apps', version: 'v1', plural: 'statefulsets' },
  DaemonSet: { group: 'apps', version: 'v1', plural: 'daemonsets' },
  CronJob: { group: 'batch', version: 'v1', plural: 'cronjobs' },
  Job: { group: 'batch', version: 'v1', plural: 'jobs' },
  ReplicaSet: { group: 'apps', version: 'v1', plural: 'replicasets' },
  Rollout: { group: 'argoproj.io', version: 'v1alpha1', plural: 'rollouts' },
  DeploymentConfig: { group: 'apps.openshift.io', version: 'v1', plural: 'deploymentconfigs' },
  SecretProviderClass: {
    group: 'secrets-store.csi.x-k8s.io',
    version: 'v1',
    plural: 'secretproviderclasses',
  },
  SecretProviderClassPodStatus: {
    group: 'secrets-store.csi.x-k8s.io',
    version: 'v1',
    plural: 'secretproviderclasspodstatuses',
  },
  SealedSecret: { group: 'bitnami.com', version: 'v1alpha1', plural: 'sealedsecrets' },
  Lease: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' },
};

export const APPLY_PATCH = 'application/apply-patch+yaml';
const FIELD_MANAGER = 'e2e';

export function resourceOf(kind: string): KubeResource {
  const resource = COLLECTIONS[kind];
  if (!resource) throw new RangeError(`expected a kind of ${Object.keys(COLLECTIONS).join()}, given ${kind}`);
  return resource;
}

/** `Deployment/api`: how specs name an object of a namespace. */
export type Ref = string;
export type WorkloadRef = `${WorkloadKind}/${string}`;
export type SourceRef = `${SourceKind}/${string}`;

export function refOf(manifest: Manifest): Ref {
  return `${manifest.kind}/${manifest.metadata.name}`;
}

/** A namespace of its own for a test: everything in it goes with the test. */
export class Space {
  readonly name: string;
  readonly client: KubeClient;
  readonly #endings: (() => unknown)[] = [];

  constructor(client: KubeClient, name: string) {
    this.client = client;
    this.name = name;
  }

  /** Creates or updates, by server-side apply: the fields that others own stay. In order. */
  async apply(...manifests: readonly Manifest[]): Promise<KubeObject[]> {
    const applied: KubeObject[] = [];
    for (const manifest of manifests) {
      const path = this.path(refOf(manifest));
      const query = { fieldManager: FIELD_MANAGER, force: true };
      const answer = await this.client.patch<KubeObject>(path, manifest, { contentType: APPLY_PATCH, query });
      applied.push(answer.body);
    }
    return applied;
  }

  /** The same for many, some at a time, in no order. */
  async applyAll(manifests: readonly Manifest[]): Promise<void> {
    await inLanes(manifests, 8, (manifest) => this.apply(manifest));
  }

  async get(ref: Ref): Promise<KubeObject> {
    return (await this.client.get<KubeObject>(this.path(ref))).body;
  }

  async find(ref: Ref): Promise<KubeObject | null> {
    try {
      return await this.get(ref);
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null;
      throw error;
    }
  }

  async list(kind: string): Promise<KubeObject[]> {
    const path = collectionPath(resourceOf(kind), this.name);
    return (await this.client.get<{ items: KubeObject[] }>(path)).body.items;
  }

  /** A merge patch. */
  async patch(ref: Ref, body: unknown): Promise<KubeObject> {
    const query = { fieldManager: FIELD_MANAGER };
    const options = { contentType: MERGE_PATCH, query };
    return (await this.client.patch<KubeObject>(this.path(ref), body, options)).body;
  }

  /** Gives a source this data and no other. */
  async setData(ref: Ref, data: Readonly<Record<string, string>>): Promise<KubeObject> {
    const wire = ref.startsWith('Secret/') ? base64Values(data) : data;
    const body = [{ op: 'add', path: '/data', value: wire }];
    return (await this.client.patch<KubeObject>(this.path(ref), body)).body;
  }

  /** `null` takes an annotation away. */
  async annotate(ref: Ref, annotations: Readonly<Record<string, string | null>>): Promise<KubeObject> {
    return await this.patch(ref, { metadata: { annotations } });
  }

  /** Changes the labels or annotations of the Namespace itself; `null` takes one away. */
  async patchNamespace(
    metadata: Readonly<Partial<Record<'labels' | 'annotations', Readonly<Record<string, string | null>>>>>,
  ): Promise<void> {
    await this.client.patch(namespacePath(this.name), { metadata }, { contentType: MERGE_PATCH });
  }

  async delete(ref: Ref): Promise<void> {
    await this.client.request({ method: 'DELETE', path: this.path(ref) });
  }

  /** Events about an object, or all of the namespace. */
  async events(ref?: Ref): Promise<KubeEvent[]> {
    const events = (await this.list('Event')) as unknown as KubeEvent[];
    if (ref === undefined) return events;
    return events.filter(({ involvedObject }) => `${involvedObject.kind}/${involvedObject.name}` === ref);
  }

  /** The event of this reason about an object, once there is one. */
  async event(ref: Ref, reason: string): Promise<KubeEvent> {
    return await eventually(async () => (await this.events(ref)).find((event) => event.reason === reason));
  }

  /** Does this when the namespace's time is over. */
  atEnd(action: () => unknown): void {
    this.#endings.push(action);
  }

  /** Deletes the namespace with all that is in it, without waiting for that. */
  async end(): Promise<void> {
    for (const action of this.#endings.splice(0).reverse()) await action();
    const request = { method: 'DELETE', path: `/api/v1/namespaces/${this.name}`, timeoutMs: 5_000 } as const;
    // The cluster may have been killed by now, on purpose.
    await this.client.request(request).catch(() => undefined);
  }

  path(ref: Ref): string {
    const [kind = '', name = ''] = ref.split('/');
    return objectPath(resourceOf(kind), { namespace: this.name, name });
  }
}

export function base64Values(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
}

/** The API server decides, and changes nothing. */
export const DRY_RUN = { query: { dryRun: 'All', fieldManager: 'e2e' } } as const;

/** What the API server answers, refusals included. */
export async function statusOf(asked: Promise<{ readonly status: number }>): Promise<number> {
  try {
    return (await asked).status;
  } catch (error) {
    if (error instanceof KubeError) return error.status;
    throw error;
  }
}

/** The specs' own way to a cluster: another user agent than Reroll's, closed when the test or file ends. */
export function connect(cluster: Cluster): KubeClient {
  const client = new KubeClient({ kubeconfig: cluster.kubeconfig, userAgent: 'e2e' });
  cleanUp(() => client.close());
  return client;
}

/** A fresh namespace; deleted when the test or file ends. */
export async function namespace(client: KubeClient, prefix = 'e2e'): Promise<Space> {
  const name = `${prefix}-${randomBytes(4).toString('hex')}`;
  await client.post('/api/v1/namespaces', { metadata: { name } });
  const space = new Space(client, name);
  cleanUp(() => space.end());
  return space;
}
