import { NODE_IP } from '../network.ts';
import { divided } from './quantity.ts';
import type { Container, Pod, ResourceFieldRef } from '../types.ts';

/** Room of the node, for limits that a container does not have. */
const NODE_LIMITS: Readonly<Record<string, string>> = {
  cpu: '2',
  memory: '4Gi',
  'ephemeral-storage': '10Gi',
};

/** What a `fieldRef` says of a pod. @throws RangeError for a path that there is not. */
export function podField(pod: Pod, path: string, ip: string): string {
  const keyed = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (keyed) return pod.metadata[keyed[1] as 'labels' | 'annotations']?.[keyed[2] ?? ''] ?? '';
  const plain: Readonly<Record<string, string>> = {
    'metadata.name': pod.metadata.name,
    'metadata.namespace': pod.metadata.namespace,
    'metadata.uid': pod.metadata.uid,
    'metadata.labels': lines(pod.metadata.labels),
    'metadata.annotations': lines(pod.metadata.annotations),
    'spec.nodeName': pod.spec.nodeName ?? '',
    'spec.serviceAccountName': pod.spec.serviceAccountName ?? '',
    'status.podIP': ip,
    'status.podIPs': ip,
    'status.hostIP': NODE_IP,
    'status.hostIPs': NODE_IP,
  };
  const value = plain[path];
  if (value === undefined) throw new RangeError(`expected a field of a pod, given ${path}`);
  return value;
}

/** What a `resourceFieldRef` says of a container: `limits.memory` in bytes, or as often as the divisor fits. */
export function resourceField(containers: readonly Container[], ref: ResourceFieldRef, own: string): string {
  const name = ref.containerName ?? own;
  const container = containers.find((each) => each.name === name);
  const value = resourceOf(container, ref.resource);
  if (value === undefined) throw new RangeError(`expected a resource of a container, given ${ref.resource}`);
  return divided(value, ref.divisor);
}

function resourceOf(container: Container | undefined, path: string): string | undefined {
  const dot = path.indexOf('.');
  const resource = path.slice(dot + 1);
  if (path.startsWith('limits.')) return container?.resources?.limits?.[resource] ?? NODE_LIMITS[resource];
  return container?.resources?.requests?.[resource] ?? '0';
}

function lines(values: Readonly<Record<string, string>> = {}): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}
