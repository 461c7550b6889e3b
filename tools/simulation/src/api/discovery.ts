import { apiVersionOf, RESOURCE_TYPES, type ResourceType } from './resource-types.ts';

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

export function versionJson(minor: number): string {
  return JSON.stringify({
    major: '1',
    minor: String(minor),
    gitVersion: `v1.${minor}.0`,
    platform: 'linux/amd64',
  });
}

/** The JSON of a path that names no collection: discovery and health; undefined for any other. */
export function documentOf(path: string, isServed: (type: ResourceType) => boolean): string | undefined {
  if (path === '/readyz' || path === '/livez' || path === '/healthz') return '"ok"';
  const groupVersion = /^\/apis?\/(.+)$/.exec(path)?.[1];
  const resources = RESOURCE_TYPES.filter(
    (type) => apiVersionOf(type) === groupVersion && isServed(type),
  ).map(({ plural, kind, isNamespaced }) => ({
    name: plural,
    singularName: kind.toLowerCase(),
    namespaced: isNamespaced,
    kind,
    verbs: VERBS,
  }));
  if (resources.length === 0) return undefined;
  return JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources });
}
