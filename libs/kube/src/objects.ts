import type { ObjectMeta } from '@reroll/core/model';

/** An object as the API serves it. The code for each kind reads `spec`, `status` and `data`. */
export interface KubeObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata: ObjectMeta;
}

/** The collection of a kind: `/apis/<group>/<version>/<plural>`; group '' is the core group. */
export interface KubeResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

export const NAMESPACES: KubeResource = { group: '', version: 'v1', plural: 'namespaces' };
export const PODS: KubeResource = { group: '', version: 'v1', plural: 'pods' };

/** `v1`, `apps/v1`. */
export function apiVersionOf(resource: KubeResource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** Returns the path of the collection, in one namespace or (without one) in all. */
export function collectionPath(resource: KubeResource, namespace?: string): string {
  const root =
    resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${resource.plural}`;
}

export function objectPath(resource: KubeResource, id: { namespace: string; name: string }): string {
  return `${collectionPath(resource, id.namespace)}/${encodeURIComponent(id.name)}`;
}

/** Returns the path of a Namespace. */
export function namespacePath(name: string): string {
  return `${collectionPath(NAMESPACES)}/${encodeURIComponent(name)}`;
}

/** Returns `<namespace>/<name>` (or `<name>`) for reports; `?` if the object has no name. */
export function nameOf(raw: unknown): string {
  const metadata = (raw as { metadata?: { namespace?: unknown; name?: unknown } } | null)?.metadata;
  const name = typeof metadata?.name === 'string' ? metadata.name : '?';
  return typeof metadata?.namespace === 'string' ? `${metadata.namespace}/${name}` : name;
}
