import { type KubeAccess, kube } from './kube-api.ts';
import { waitUntil } from './wait.ts';

interface NodeList {
  readonly items: readonly {
    readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

/** A node that is never the reason why a pod does not run. */
const CAPACITY = { cpu: '1k', memory: '1Ti', 'ephemeral-storage': '1Ti', pods: '10k' };
const AT_ONCE = 20;

/** Creates the nodes `node-0` … `node-(count-1)`. */
export async function createNodes(access: KubeAccess, count: number): Promise<void> {
  for (let first = 0; first < count; first += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - first);
    const indexes = Array.from({ length: size }, (_, offset) => first + offset);
    await Promise.all(
      indexes.map(async (index) => await kube(access, { path: '/api/v1/nodes', body: node(index) })),
    );
  }
}

function node(index: number): unknown {
  const name = `node-${index}`;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', type: 'kwok' } },
    status: { capacity: CAPACITY, allocatable: CAPACITY },
  };
}

interface ReadyWait {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves when that many nodes are Ready, which kwok makes them. */
export async function nodesReady(access: KubeAccess, options: ReadyWait & { count: number }): Promise<void> {
  const { count, timeoutMs, signal } = options;
  await waitUntil(
    async () => {
      const { items } = (await kube(access, { path: '/api/v1/nodes' })) as NodeList;
      const ready = items.filter(({ status }) =>
        status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
      );
      return ready.length >= count;
    },
    { what: `${count} nodes to be Ready`, timeoutMs, signal },
  );
}

/** Resolves when pods can be made in the namespace `default`: kube-controller-manager has made its account. */
export async function defaultAccountReady(access: KubeAccess, wait: ReadyWait): Promise<void> {
  const path = '/api/v1/namespaces/default/serviceaccounts?fieldSelector=metadata.name%3Ddefault';
  await waitUntil(async () => ((await kube(access, { path })) as { items: unknown[] }).items.length > 0, {
    what: 'the service account of namespace default',
    ...wait,
  });
}
