import { KubeClient, MERGE_PATCH } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import type { Metadata, Pod, TokenSource } from './types.ts';

const DEFAULT_EXPIRATION_S = 3_600;

/** What the kubelet asks of the API server. */
export class KubeletApi {
  readonly client: KubeClient;

  constructor(kubeconfig: string) {
    this.client = new KubeClient({ kubeconfig, userAgent: 'reroll-test-kubelet' });
  }

  /** Null when there is none. */
  async find<T>(path: string): Promise<T | null> {
    try {
      return (await this.client.get<T>(path)).body;
    } catch (error) {
      if (isStatus(error, 404)) return null;
      throw error;
    }
  }

  /** Creates it, or leaves the one that is there. */
  async ensure(collection: string, object: unknown): Promise<void> {
    await this.client.post(collection, object).catch((error: unknown) => {
      if (!isStatus(error, 409)) throw error;
    });
  }

  /** Deletes it if it is there. */
  async remove(path: string, body?: unknown): Promise<void> {
    await this.client.request({ method: 'DELETE', path, body }).catch((error: unknown) => {
      // 409: another object of this name by now.
      if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
    });
  }

  async merge(path: string, body: unknown): Promise<void> {
    await this.client.patch(path, body, { contentType: MERGE_PATCH });
  }

  /** Decoded data of a ConfigMap or Secret; undefined when there is none. */
  async data(
    namespace: string,
    kind: 'ConfigMap' | 'Secret',
    name: string,
  ): Promise<ReadonlyMap<string, Buffer> | undefined> {
    const plural = kind === 'Secret' ? 'secrets' : 'configmaps';
    const found = await this.find<{ data?: Record<string, string>; binaryData?: Record<string, string> }>(
      `/api/v1/namespaces/${namespace}/${plural}/${name}`,
    );
    if (found === null) return undefined;
    const encoding = kind === 'Secret' ? 'base64' : 'utf8';
    const plain = Object.entries(found.data ?? {}).map(
      ([key, value]) => [key, Buffer.from(value, encoding)] as const,
    );
    const binary = Object.entries(found.binaryData ?? {}).map(
      ([key, value]) => [key, Buffer.from(value, 'base64')] as const,
    );
    return new Map([...plain, ...binary]);
  }

  /** A token of the pod's ServiceAccount that ends with the pod. */
  async token(pod: Pod, source: TokenSource): Promise<string> {
    const { namespace, name, uid } = pod.metadata;
    const account = pod.spec.serviceAccountName ?? 'default';
    const { body } = await this.client.post<{ status: { token: string } }>(
      `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {
          audiences: source.audience === undefined ? [] : [source.audience],
          expirationSeconds: source.expirationSeconds ?? DEFAULT_EXPIRATION_S,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
        },
      },
    );
    return body.status.token;
  }
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof KubeError && error.status === status;
}

/** The path of a pod, by its metadata. */
export function podPath({ namespace, name }: Metadata): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}
