import { RV_UNKNOWN, isNewer, maxRv, type Rv } from '../rv.ts';
import type { Scope } from './listed.ts';

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
