/** What a request does, for metrics: a bounded set of values for any path. */
export interface RequestInfo {
  /** Kubernetes' verb: get, list, watch, create, update, patch, delete. */
  readonly verb: string;
  /** The plural (with a subresource after a slash), or the first part of a path that is not an API resource. */
  readonly resource: string;
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** How many parts of a path precede the resource. */
const ROOTS: Readonly<Record<string, number>> = { api: 2, apis: 3 };

/** `GET /apis/apps/v1/namespaces/shop/deployments/web` is get of `deployments`. */
export function requestInfo(method: string, path: string): RequestInfo {
  const parts = path.split('/').filter((part) => part !== '');
  const root = parts[0] ?? '';
  const rest = parts.slice(ROOTS[root] ?? parts.length);
  if (rest.length === 0) return { verb: VERBS[method] ?? 'get', resource: root };
  const [plural, name, sub] = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
  const reading = name === undefined ? 'list' : 'get';
  return { verb: VERBS[method] ?? reading, resource: [plural, sub].filter(Boolean).join('/') };
}
