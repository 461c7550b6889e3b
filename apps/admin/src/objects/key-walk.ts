import type { NamespacesAsked } from '../history/namespaces-asked.ts';
import type { Key } from '@reroll/core/model';
import { behind, endOfNamespace, keyAt, startOfNamespace, type Place } from './key-index.ts';

export interface WalkFilter<ObjectKey extends Key<string> = Key<string>> {
  readonly namespace?: string | undefined;
  readonly kind?: string | undefined;
  /** Part of the name. */
  readonly name?: string | undefined;
  /** A further filter by what the snapshot knows; the row is checked again. */
  readonly mayMatch?: (key: ObjectKey) => boolean;
}

/** Goes through sorted keys from a place on, skipping namespaces that the caller does not see. */
export class KeyWalk<ObjectKey extends Key<string> = Key<string>> {
  /** The last place that was examined. */
  last: Place | undefined;
  #isStopped = false;
  #at: number;
  readonly #end: number;
  readonly #places: readonly Place[];
  readonly #filter: WalkFilter<ObjectKey>;

  constructor(places: readonly Place[], filter: WalkFilter<ObjectKey>, after: Place | undefined) {
    const { namespace } = filter;
    this.#places = places;
    this.#filter = filter;
    this.#at = after === undefined ? 0 : behind(places, after);
    if (namespace !== undefined) this.#at = Math.max(this.#at, startOfNamespace(places, namespace));
    this.#end = namespace === undefined ? places.length : endOfNamespace(places, namespace);
    this.last = after;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  get isOver(): boolean {
    return this.isAtEnd || this.#isStopped;
  }

  /** The next `count` keys that may match. */
  async take(count: number, namespaces: NamespacesAsked): Promise<ObjectKey[]> {
    const taken: ObjectKey[] = [];
    while (!this.isOver && taken.length < count) {
      const place = this.#places[this.#at] ?? '';
      const namespace = place.slice(0, place.indexOf('/'));
      const sees = await namespaces.sees(namespace);
      if (sees === true) this.#takeFrom(`${namespace}/`, taken, count);
      else this.#pass(namespace, sees);
    }
    return taken;
  }

  /** Takes keys within one namespace. */
  #takeFrom(prefix: string, taken: ObjectKey[], count: number): void {
    for (; !this.isAtEnd && taken.length < count; this.#at += 1) {
      const place = this.#places[this.#at];
      if (!place?.startsWith(prefix)) return;
      if (this.#matches(place)) taken.push(keyAt(place));
      this.last = place;
    }
  }

  #pass(namespace: string, sees: false | undefined): void {
    if (sees === undefined) {
      this.#isStopped = true;
      return;
    }
    this.#at = endOfNamespace(this.#places, namespace);
    this.last = this.#places[this.#at - 1];
  }

  #matches(place: Place): boolean {
    const { kind, name, mayMatch } = this.#filter;
    // A quick check: the name must be part of the place. Most places end here.
    if (name !== undefined && !(place.includes(name) && nameIn(place).includes(name))) return false;
    if (kind !== undefined && !place.endsWith(`/${kind}`)) return false;
    return mayMatch?.(keyAt(place)) ?? true;
  }
}

function nameIn(place: Place): string {
  return place.slice(place.indexOf('/') + 1, place.lastIndexOf('/'));
}
