import type { Form } from './api-object.ts';
import { apiVersionOf, RESOURCE_TYPES, type ResourceType } from './resource-types.ts';

/** What a path names. `name` is '' for a collection, `namespace` for all namespaces or a type without them. */
export interface Target {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** A request as the server gets it. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** undefined: a path of no collection, e.g. `/version`, or one that is not served. */
  readonly target: Target | undefined;
  readonly isWatch: boolean;
  readonly form: Form;
  /** Of the body. */
  readonly contentType: string;
  readonly body: string;
  /** The query's `fieldManager`, or the user agent up to its slash. */
  readonly manager: string;
}

/** A request as a pool sends it. */
export interface SentRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

const TYPES: ReadonlyMap<string, ResourceType> = new Map(
  RESOURCE_TYPES.map((type) => [`${apiVersionOf(type)}/${type.plural}`, type]),
);

const PATH =
  /^\/(?:api\/([^/]+)|apis\/([^/]+\/[^/]+))(?:\/namespaces\/([^/]+)(?=\/(?!status$)))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;

/** `/api/v1/namespaces/shop/configmaps/a/status`. */
function targetOf(path: string): Target | undefined {
  const parts = PATH.exec(path);
  if (parts === null) return undefined;
  const [core, group, namespace, plural, name, subresource] = parts
    .slice(1)
    .map((part: string | undefined) => decodeURIComponent(part ?? '')) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const type = TYPES.get(`${core}${group}/${plural}`);
  if (type === undefined || (namespace !== '' && !type.isNamespaced)) return undefined;
  return { type, namespace, name, subresource };
}

/** Whether a path asks for a watch. */
function isWatch(method: string, query: URLSearchParams): boolean {
  return method === 'GET' && ['1', 'true'].includes(query.get('watch') ?? '');
}

export function parseRequest({ method, path: whole, headers, body }: SentRequest): ApiRequest {
  const [path = '', search = ''] = whole.split('?');
  const query = new URLSearchParams(search);
  const { accept = '', 'content-type': contentType = '', 'user-agent': agent = 'unknown' } = headers;
  return {
    method,
    path,
    query,
    target: targetOf(path),
    isWatch: isWatch(method, query),
    form: accept.includes('as=PartialObjectMetadata') ? 'metadata' : 'whole',
    contentType,
    body,
    manager: query.get('fieldManager') ?? agent.replace(/\/.*/, ''),
  };
}
