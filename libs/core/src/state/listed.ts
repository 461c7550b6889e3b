import { isNewer, type Rv } from '../rv.ts';
import { kindOf, namespaceOf } from './rows.ts';
import { slicesOf } from './slices.ts';

/** One stream's reach: a kind, in one namespace or (`''`) in all. */
export interface Scope {
  readonly kind: string;
  readonly namespace: string;
}

/** Some objects of a list, told as they come. */
export interface Portion<Seen, Row> {
  readonly scope: Scope;
  readonly objects: readonly Seen[];
  /** The catalog's rows, for what the cluster state does not know itself (after a gap). */
  readonly catalog: ReadonlyMap<string, Row>;
  /**
   * Its namespace has come into scope with this list (default: it was in scope before, or everything is): what
   * nobody knows yet is adopted as on the first day of an install.
   */
  readonly entering?: boolean;
}

/** The end of a list: its last portion, and what is needed to tell what is gone. */
export interface Listed<Seen, Row> extends Portion<Seen, Row> {
  /** The resourceVersion at which the list was taken. */
  readonly rv: Rv;
  /** Keys of the objects that were told in portions before and still exist. */
  readonly found?: ReadonlySet<string>;
  /** Keys of objects that exist but could not be read: neither seen nor gone. */
  readonly unread?: readonly string[];
}

/**
 * Of keys that are known, those of the list's scope that the list does not show, in slices: what was found among so
 * many (`perSlice`) keys.
 */
export function* absentKeys(
  known: Iterable<string>,
  list: Listed<{ readonly key: string }, unknown>,
  perSlice: number,
): Generator<readonly string[], void, void> {
  const present = new Set(list.unread);
  for (const { key } of list.objects) present.add(key);
  const isAbsent = (key: string): boolean =>
    !present.has(key) && !list.found?.has(key) && isWithin(list.scope, key);
  for (const slice of slicesOf(known, perSlice)) yield slice.filter(isAbsent);
}

/** What the cluster state knows of a list's scope, and what only the catalog does. */
export function* withCatalog<Row>(
  known: Iterable<string>,
  held: ReadonlyMap<string, Row>,
  { catalog }: { readonly catalog: ReadonlyMap<string, Row> },
): Generator<string> {
  yield* known;
  for (const key of catalog.keys()) if (!held.has(key)) yield key;
}

/** What is known best of an object: the catalog's row if a list that broke has left an older one. */
export function latest<Row extends { readonly rv: Rv }>(
  held: Row | undefined,
  inCatalog: Row | undefined,
): Row | undefined {
  if (!held || !inCatalog) return held ?? inCatalog;
  return isNewer(inCatalog.rv, held.rv) ? inCatalog : held;
}

/** Whether a key belongs to what a stream shows. */
export function isWithin(scope: Scope, key: string): boolean {
  return kindOf(key) === scope.kind && (scope.namespace === '' || namespaceOf(key) === scope.namespace);
}

export function scopeKey(scope: Scope): string {
  return `${scope.kind}/${scope.namespace}`;
}
