import { apiVersionOf, RESOURCE_TYPES, type ResourceType } from './resource-types.ts';

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** The JSON of a path that names no collection: discovery, version and health; undefined for any other. */
export function documentOf(path: string, isServed: (type: ResourceType) => boolean): string | undefined {
  if (path === '/version')
    return JSON.stringify({ major: '1', minor: '34', gitVersion: 'v1.34.0', platform: 'linux/amd64' });
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
