import type { Form, Version } from './api-object.ts';
import type { ApiRequest, Target } from './api-request.ts';
import type { Etcd } from './etcd.ts';
import { apiVersionOf } from './resource-types.ts';
import { fieldPredicate, labelPredicate, type Predicate } from './selectors.ts';
import { badRequest, expired, invalid, StatusError } from './status-error.ts';

/** Which objects of a collection the request is about: its namespace and selectors. */
export function selectionOf({ query }: ApiRequest, { type, namespace }: Target): Predicate {
  const labels = query.get('labelSelector');
  const fields = query.get('fieldSelector');
  const byLabels = labels ? labelPredicate(labels) : undefined;
  const byFields = fields ? fieldPredicate(type, fields) : undefined;
  return (object) =>
    (namespace === '' || object.metadata.namespace === namespace) &&
    (byLabels === undefined || byLabels(object)) &&
    (byFields === undefined || byFields(object));
}

/** A resourceVersion of a query: undefined if it is not set. */
export function versionOf(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  if (text === '') return undefined;
  if (!/^\d+$/.test(text)) throw badRequest(`Invalid value: "${text}": strconv.ParseUint: invalid syntax`);
  return Number(text);
}

function refused(field: string, message: string): StatusError {
  const kind = { group: 'meta.k8s.io', kind: 'ListOptions' };
  return invalid(kind, '', [{ reason: 'FieldValueForbidden', message: `Forbidden: ${message}`, field }]);
}

const WITH_INITIAL = 'sendInitialEvents';
const MATCH = 'resourceVersionMatch';

function requireInitialOptions({ query, isWatch }: ApiRequest, isWatchListKnown: boolean): void {
  if (!isWatch) throw refused(WITH_INITIAL, 'sendInitialEvents is forbidden for list');
  if (!isWatchListKnown)
    throw refused(
      WITH_INITIAL,
      'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    );
  if (query.get(MATCH) !== 'NotOlderThan')
    throw refused(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
}

/** Why `resourceVersionMatch` is refused; undefined if it is not. */
function matchRefusal(match: string, { query, isWatch }: ApiRequest): string | undefined {
  if (isWatch) return 'is forbidden for watch unless sendInitialEvents is provided';
  if (!query.get('resourceVersion')) return 'is forbidden unless resourceVersion is provided';
  if (query.get('continue')) return 'is forbidden when continue is provided';
  const isExactAny = match === 'Exact' && query.get('resourceVersion') === '0';
  return isExactAny ? '"exact" is forbidden for resourceVersion "0"' : undefined;
}

/** Throws a `StatusError` 422 for options of a list or watch that do not go together. */
export function requireListOptions(request: ApiRequest, isWatchListKnown: boolean): void {
  const { query } = request;
  if (query.has(WITH_INITIAL)) return requireInitialOptions(request, isWatchListKnown);
  const match = query.get(MATCH) ?? '';
  const why = match === '' ? undefined : matchRefusal(match, request);
  if (why !== undefined) throw refused(MATCH, `${MATCH} ${why}`);
}

/** From where a list is served. */
export type ListSource =
  | { readonly from: 'etcd' }
  /** The state at exactly this revision; objects after this key only. */
  | { readonly from: 'past'; readonly revision: number; readonly after: string }
  /** The server's cache, once it has this revision. */
  | { readonly from: 'cache'; readonly notOlderThan: number };

interface Token {
  readonly rv: number;
  readonly start: string;
}

function tokenOf(token: Token): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', ...token })).toString('base64url');
}

function parseToken(text: string): Token {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Token;
  } catch {
    throw badRequest('continue key is not valid');
  }
}

/** Throws a `StatusError` 400 or 410 for a state that cannot be had. */
export function listSource({ query }: ApiRequest, etcd: Etcd): ListSource {
  const next = query.get('continue');
  const version = versionOf(query);
  if (next && version) throw badRequest('specifying resource version is not allowed when using continue');
  if (next) return continued(parseToken(next), etcd);
  if (version === undefined) return { from: 'etcd' };
  if (version === 0 || !isExact(query)) return { from: 'cache', notOlderThan: version };
  if (version < etcd.compacted) throw expired('The resourceVersion for the provided list is too old.');
  return { from: 'past', revision: version, after: '' };
}

/** A list in pages is of exactly its resourceVersion, too. */
function isExact(query: URLSearchParams): boolean {
  const match = query.get(MATCH) ?? '';
  return match === 'Exact' || (match === '' && Number(query.get('limit')) > 0);
}

/** A continued list whose state was compacted may go on at the present state. */
function continued({ rv, start }: Token, etcd: Etcd): ListSource {
  if (rv === -1) return { from: 'past', revision: etcd.revision, after: start };
  if (rv >= etcd.compacted) return { from: 'past', revision: rv, after: start };
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results.';
  throw expired(message, tokenOf({ rv: -1, start }));
}

export interface Page {
  readonly target: Target;
  readonly form: Form;
  /** 0: no limit. */
  readonly limit: number;
  readonly selects: Predicate;
  /** Whether a page says how many objects are left: not with selectors. */
  readonly isCounted: boolean;
  readonly revision: number;
  /** Only objects after this key. */
  readonly after: string;
}

/** As in etcd, there is more if any object is left, even if the selectors leave it out. */
function moreOf({ target, form, isCounted, revision }: Page, last: string, left: number): object {
  if (left === 0) return target.type.isCustom && form !== 'metadata' ? { continue: '' } : {};
  const count = isCounted ? { remainingItemCount: left } : {};
  return { continue: tokenOf({ rv: revision, start: last }), ...count };
}

/** The objects of a page, and how many are left after it. */
function itemsOf(objects: readonly Version[], page: Page): { items: Version[]; left: number } {
  const { target, limit, selects, after } = page;
  const inScope = objects.filter(
    ({ key, object }) =>
      key > after && (target.namespace === '' || object.metadata.namespace === target.namespace),
  );
  const items: Version[] = [];
  for (const [index, each] of inScope.entries()) {
    if (limit > 0 && items.length === limit) return { items, left: inScope.length - index };
    if (selects(each.object)) items.push(each);
  }
  return { items, left: 0 };
}

/** The JSON of one page of a list. */
export function pageJson(objects: readonly Version[], page: Page): string {
  const { target, form, revision } = page;
  const { type } = target;
  const { items, left } = itemsOf(objects, page);
  const more = moreOf(page, items.at(-1)?.key ?? '', left);
  const metadata = JSON.stringify({ resourceVersion: String(revision), ...more });
  const isMetadata = form === 'metadata';
  const kind = isMetadata ? 'PartialObjectMetadataList' : `${type.kind}List`;
  const apiVersion = isMetadata ? 'meta.k8s.io/v1' : apiVersionOf(type);
  const list = `[${items.map((each) => each.itemJson(form)).join(',')}]`;
  const json = items.length === 0 && isMetadata ? 'null' : list;
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${metadata},"items":${json}}`;
}
