import { RV_UNKNOWN, isNewer, maxRv, type Rv } from '../rv.ts';
import { scopeKey, type Scope } from './listed.ts';

/** How far the streams have come, by the scope of each. */
export class Positions {
  /** Of the last list of a stream of sources. */
  readonly #listed = new Map<string, Rv>();
  /** Of the last that a stream of sources told. */
  readonly #last = new Map<string, Rv>();
  /** By scope of workloads: how far their sources were known when the list of the workloads was asked for. */
  readonly #sourcesAtList = new Map<string, Rv>();

  /** Whether it was the first list of this scope. */
  sourcesListed(scope: Scope, rv: Rv): boolean {
    const isFirst = !this.#listed.has(scopeKey(scope));
    this.#listed.set(scopeKey(scope), rv);
    this.advance(scope, rv);
    return isFirst;
  }

  advance(scope: Scope, rv: Rv): void {
    const key = scopeKey(scope);
    this.#last.set(key, maxRv(this.#last.get(key) ?? RV_UNKNOWN, rv));
  }

  workloadListBegins(scope: Scope): void {
    this.#sourcesAtList.set(scopeKey(scope), this.#sourcesOf(scope.namespace));
  }

  listOf(sources: Scope): Rv {
    return this.#listed.get(scopeKey(sources)) ?? RV_UNKNOWN;
  }

  sourcesAtListOf(workloads: Scope): Rv {
    return this.#sourcesAtList.get(scopeKey(workloads)) ?? RV_UNKNOWN;
  }

  forget(namespace: string): void {
    for (const map of [this.#listed, this.#last, this.#sourcesAtList]) {
      for (const key of map.keys()) if (key.endsWith(`/${namespace}`)) map.delete(key);
    }
  }

  /**
   * How far all streams that show sources of the namespace have come: the one that is furthest behind. Those of
   * other namespaces say nothing of it.
   */
  #sourcesOf(namespace: string): Rv {
    let least: Rv | undefined;
    for (const [key, rv] of this.#last) {
      const isMeant = key.endsWith(`/${namespace}`) || key.endsWith('/');
      if (isMeant && (least === undefined || isNewer(least, rv))) least = rv;
    }
    return least ?? RV_UNKNOWN;
  }
}
