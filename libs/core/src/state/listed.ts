import { isNewer, type Rv, RV_UNKNOWN, maxRv } from '../rv.ts';
import { kindOf, namespaceOf, type Key } from '../model.ts';
import { inSlices } from './slices.ts';

/** What one stream covers: a kind, in one namespace or (`''`) in all. */
export interface Scope {
  readonly kind: string;
  readonly namespace: string;
}

/** Some objects of a list, in the order of arrival. */
export interface Portion<Seen, Row> {
  readonly scope: Scope;
  readonly objects: readonly Seen[];
  /** Rows of the catalog, for objects that the cluster state does not know (after a gap). */
  readonly catalog: ReadonlyMap<string, Row>;
  /**
   * The namespace comes into scope with this list, so that unknown objects are adopted as on the first day of an install. Default
   * false.
   */
  readonly entering?: boolean;
}

/** The end of a list: its last portion, and what is needed to find deleted objects. */
export interface Listed<Seen, Row> extends Portion<Seen, Row> {
  /** The resourceVersion at which the list was taken. */
  readonly rv: Rv;
  /** Keys of objects that earlier portions held and that still exist. */
  readonly found?: ReadonlySet<string>;
  /** Keys of objects that exist but could not be read. */
  readonly unread?: readonly string[];
  /** Keys of sources that exist, but lost the labels of the watched ones. */
  readonly unwatched?: ReadonlySet<string>;
}

/** Calls `each` for the known keys of the list's scope that the list does not show, in slices of at most `size` known keys. */
export function* eachAbsent<ObjectKey extends Key<string>>(
  known: Iterable<ObjectKey>,
  list: Listed<{ readonly key: ObjectKey }, unknown>,
  { size, each }: { readonly size: number; readonly each: (key: ObjectKey) => void },
): Generator<void, void, void> {
  const present = new Set<string>(list.unread);
  for (const { key } of list.objects) present.add(key);
  const isAbsent = (key: ObjectKey): boolean =>
    !present.has(key) && !list.found?.has(key) && isWithin(list.scope, key);
  const eachKnown = (key: ObjectKey): void => {
    if (isAbsent(key)) each(key);
  };
  yield* inSlices(known, { size, each: eachKnown });
}

/** Yields the keys that the cluster state knows in the list's scope, then those that only the catalog knows. */
export function* withCatalog<ObjectKey extends string, Row>(
  known: Iterable<ObjectKey>,
  held: ReadonlyMap<ObjectKey, Row>,
  { catalog }: { readonly catalog: ReadonlyMap<string, Row> },
): Generator<ObjectKey> {
  yield* known;
  for (const key of catalog.keys() as Iterable<ObjectKey>) if (!held.has(key)) yield key;
}

/** Returns the later row. The cluster state can hold an older one than the catalog after a list that broke. */
export function latest<Row extends { readonly rv: Rv }>(
  held: Row | undefined,
  inCatalog: Row | undefined,
): Row | undefined {
  if (!held || !inCatalog) return held ?? inCatalog;
  return isNewer(inCatalog.rv, held.rv) ? inCatalog : held;
}

/** Whether a stream of this scope shows the key. */
export function isWithin(scope: Scope, key: Key<string>): boolean {
  return kindOf(key) === scope.kind && (scope.namespace === '' || namespaceOf(key) === scope.namespace);
}

export function scopeKey(scope: Scope): string {
  return `${scope.kind}/${scope.namespace}`;
}

/** The positions for one namespace or (`''`) for the streams that cover all, each by kind. */
interface Place {
  /** The resourceVersion of the last list of sources. */
  readonly listed: Map<string, Rv>;
  /** The latest resourceVersion that a stream of sources showed. */
  readonly last: Map<string, Rv>;
  /** By kind of workload: the position of the sources when the list of workloads was requested. */
  readonly sourcesAtList: Map<string, Rv>;
}

/** The positions of the streams, by scope. */
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

  /** Returns the position of the slowest stream that shows sources of the namespace. */
  #sourcesOf(namespace: string): Rv {
    let least: Rv | undefined;
    for (const each of new Set([namespace, ''])) {
      for (const rv of this.#places.get(each)?.last.values() ?? [])
        if (least === undefined || isNewer(least, rv)) least = rv;
    }
    return least ?? RV_UNKNOWN;
  }
}
