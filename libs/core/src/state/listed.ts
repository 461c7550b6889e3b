import { isNewer, type Rv, RV_UNKNOWN, maxRv } from '../rv.ts';
import { kindOf, namespaceOf, type Key } from '../model.ts';
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
export function* absentKeys<ObjectKey extends Key<string>>(
  known: Iterable<ObjectKey>,
  list: Listed<{ readonly key: ObjectKey }, unknown>,
  perSlice: number,
): Generator<readonly ObjectKey[], void, void> {
  const present = new Set<string>(list.unread);
  for (const { key } of list.objects) present.add(key);
  const isAbsent = (key: ObjectKey): boolean =>
    !present.has(key) && !list.found?.has(key) && isWithin(list.scope, key);
  for (const slice of slicesOf(known, perSlice)) yield slice.filter(isAbsent);
}

/** What the cluster state knows of a list's scope, and what only the catalog does. */
export function* withCatalog<ObjectKey extends string, Row>(
  known: Iterable<ObjectKey>,
  held: ReadonlyMap<ObjectKey, Row>,
  { catalog }: { readonly catalog: ReadonlyMap<string, Row> },
): Generator<ObjectKey> {
  yield* known;
  for (const key of catalog.keys() as Iterable<ObjectKey>) if (!held.has(key)) yield key;
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
export function isWithin(scope: Scope, key: Key<string>): boolean {
  return kindOf(key) === scope.kind && (scope.namespace === '' || namespaceOf(key) === scope.namespace);
}

export function scopeKey(scope: Scope): string {
  return `${scope.kind}/${scope.namespace}`;
}

/** Of one namespace, or (`''`) of the streams that show all of them; each by kind. */
interface Place {
  /** Of the last list of a stream of sources. */
  readonly listed: Map<string, Rv>;
  /** Of the last that a stream of sources told. */
  readonly last: Map<string, Rv>;
  /** By kind of workload: how far their sources were known when the list of the workloads was asked for. */
  readonly sourcesAtList: Map<string, Rv>;
}

/** How far the streams have come, by the scope of each. */
export class Positions {
  readonly #places = new Map<string, Place>();

  /** Whether no list of this scope has ended yet. */
  isFirstList(scope: Scope): boolean {
    return this.#places.get(scope.namespace)?.listed.has(scope.kind) !== true;
  }

  sourcesListed(scope: Scope, rv: Rv): void {
    this.#placeOf(scope.namespace).listed.set(scope.kind, rv);
    this.advance(scope, rv);
  }

  advance({ kind, namespace }: Scope, rv: Rv): void {
    const { last } = this.#placeOf(namespace);
    last.set(kind, maxRv(last.get(kind) ?? RV_UNKNOWN, rv));
  }

  workloadListBegins({ kind, namespace }: Scope): void {
    this.#placeOf(namespace).sourcesAtList.set(kind, this.#sourcesOf(namespace));
  }

  listOf({ kind, namespace }: Scope): Rv {
    return this.#places.get(namespace)?.listed.get(kind) ?? RV_UNKNOWN;
  }

  sourcesAtListOf({ kind, namespace }: Scope): Rv {
    return this.#places.get(namespace)?.sourcesAtList.get(kind) ?? RV_UNKNOWN;
  }

  forget(namespace: string): void {
    this.#places.delete(namespace);
  }

  #placeOf(namespace: string): Place {
    const held = this.#places.get(namespace);
    if (held) return held;
    const place = { listed: new Map(), last: new Map(), sourcesAtList: new Map() };
    this.#places.set(namespace, place);
    return place;
  }

  /**
   * How far all streams that show sources of the namespace have come: the one that is furthest behind. Those of
   * other namespaces say nothing of it.
   */
  #sourcesOf(namespace: string): Rv {
    let least: Rv | undefined;
    for (const each of new Set([namespace, ''])) {
      for (const rv of this.#places.get(each)?.last.values() ?? [])
        if (least === undefined || isNewer(least, rv)) least = rv;
    }
    return least ?? RV_UNKNOWN;
  }
}
