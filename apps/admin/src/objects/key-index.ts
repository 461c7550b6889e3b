import { partsOf, type Key } from '@reroll/core/model';
import { firstIndex } from '@reroll/core/history/stream-id';
import { sortInTurns } from './sort-in-turns.ts';

/** `<namespace>/<name>/<kind>`: the order of lists. */
export type Place = string;

export function placeOf(key: Key<string>): Place {
  const { kind, namespace, name } = partsOf(key);
  return [namespace, name, kind].join('/');
}

/** `ObjectKey`: of the hash whose snapshot the place is from. */
export function keyAt<ObjectKey extends Key<string>>(place: Place): ObjectKey {
  const [namespace, name, kind] = place.split('/');
  return [kind, namespace, name].join('/') as ObjectKey;
}

/** Keys of one portion of a scan, each with what is to be remembered of its row. */
export type MarkedKeys<Mark> = readonly (readonly [key: Key<string>, mark: Mark | null])[];

/** The keys as they were at one scan. */
export interface Snapshot<Mark> {
  /** Sorted. */
  readonly places: readonly Place[];
  /** Of the few that have one. */
  readonly marks: ReadonlyMap<Key<string>, Mark>;
}

/** A snapshot younger than this (ms) is used as it is. */
const FRESH = 1_000;
/** At most one part in so many of the time is spent scanning. */
const SHARE = 20;
/** A scan that takes no longer than this (ms) is waited for. */
const QUICK = 100;

/**
 * The keys of a hash in Redis, sorted, so that a page of a list costs what the page holds. Redis does not tell of a change of
 * them, so they are scanned anew: only if somebody asks, and the less often the longer it takes. Rows are read fresh for
 * every page, so that what is out of date is at most whether a new one is in the list yet.
 */
export class KeyIndex<Mark> {
  readonly #scan: () => AsyncIterable<MarkedKeys<Mark>>;
  #snapshot: Snapshot<Mark> | undefined;
  #scanned = 0;
  #took = 0;
  #scanning: Promise<Snapshot<Mark>> | undefined;

  constructor(scan: () => AsyncIterable<MarkedKeys<Mark>>) {
    this.#scan = scan;
  }

  /** Rejects as the scan does, if there is no snapshot yet or it is waited for. */
  async snapshot(): Promise<Snapshot<Mark>> {
    const snapshot = this.#snapshot;
    if (!snapshot) return await this.#anew();
    const age = performance.now() - this.#scanned;
    if (age < Math.max(FRESH, SHARE * this.#took)) return snapshot;
    const scanning = this.#anew();
    if (this.#took <= QUICK) return await scanning;
    // Whoever needs it and cannot have it is told by their own reads.
    scanning.catch(() => undefined);
    return snapshot;
  }

  #anew(): Promise<Snapshot<Mark>> {
    this.#scanning ??= this.#scanAll().finally(() => {
      this.#scanning = undefined;
    });
    return this.#scanning;
  }

  async #scanAll(): Promise<Snapshot<Mark>> {
    const began = performance.now();
    const seen = new Set<Place>();
    const marks = new Map<Key<string>, Mark>();
    for await (const portion of this.#scan())
      for (const [key, mark] of portion) {
        seen.add(placeOf(key));
        if (mark !== null) marks.set(key, mark);
      }
    const snapshot = { places: await sorted(this.#snapshot?.places ?? [], seen), marks };
    this.#snapshot = snapshot;
    this.#scanned = performance.now();
    this.#took = this.#scanned - began;
    return snapshot;
  }
}

/** Those that were seen, sorted; before, those of the last time. Mostly they are the same. */
async function sorted(before: readonly Place[], seen: Set<Place>): Promise<readonly Place[]> {
  const known = before.filter((place) => seen.delete(place));
  return await sortInTurns(known, [...seen]);
}

/** The index of the first place behind all those of a namespace. */
export function endOfNamespace(places: readonly Place[], namespace: string): number {
  // '0' comes right after '/'.
  return firstIndex(places, (place) => place >= `${namespace}0`);
}

export function startOfNamespace(places: readonly Place[], namespace: string): number {
  return firstIndex(places, (place) => place >= `${namespace}/`);
}

export function behind(places: readonly Place[], place: Place): number {
  return firstIndex(places, (other) => other > place);
}
