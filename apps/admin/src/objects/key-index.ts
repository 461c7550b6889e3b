import { partsOf, type Key } from '@reroll/core/model';
import { firstIndex } from '@reroll/core/history/stream-id';
import { sortInTurns } from './sort-in-turns.ts';

/** `<namespace>/<name>/<kind>`: lists are sorted by it. */
export type Place = string;

export function placeOf(key: Key<string>): Place {
  const { kind, namespace, name } = partsOf(key);
  return [namespace, name, kind].join('/');
}

/** `ObjectKey`: the type of keys in the hash of the snapshot. */
export function keyAt<ObjectKey extends Key<string>>(place: Place): ObjectKey {
  const [namespace, name, kind] = place.split('/');
  return [kind, namespace, name].join('/') as ObjectKey;
}

/** The keys of one portion of a scan, each with the mark to keep for its row. */
type MarkedKeys<Mark> = readonly (readonly [key: Key<string>, mark: Mark | null])[];

/** The keys as they were at one scan. */
export interface Snapshot<Mark> {
  /** Sorted. */
  readonly places: readonly Place[];
  /** The marks of the few keys that have one. */
  readonly marks: ReadonlyMap<Key<string>, Mark>;
}

/** A snapshot younger than this (ms) is used as it is. */
const FRESH = 1_000;
/** At most one part in this many of the time is spent scanning. */
const SHARE = 20;
/** Reads wait for a scan that takes no longer than this (ms). */
const QUICK = 100;
/** Reads wait for a scan, however long it takes, rather than use a snapshot that is due for one by more than this (ms). */
const STALE = 10_000;

/**
 * The sorted keys of a hash in Redis, so that a page of a list costs only what the page holds. Redis does not report
 * changes of keys, so they are scanned again: only on demand, and less often the longer a scan takes. Rows are read for
 * every page, so that only the presence of new keys can be out of date.
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

  /** Rejects with the scan's error if there is no snapshot yet or the scan is awaited. */
  async snapshot(): Promise<Snapshot<Mark>> {
    const snapshot = this.#snapshot;
    if (!snapshot) return await this.#anew();
    const age = performance.now() - this.#scanned;
    const due = Math.max(FRESH, SHARE * this.#took);
    if (age < due) return snapshot;
    const scanning = this.#anew();
    if (this.#took <= QUICK || age >= due + STALE) return await scanning;
    // Callers that need the snapshot get the error from their own reads.
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

/** The scanned keys, sorted. `before`: those of the last scan, which are mostly the same. */
async function sorted(before: readonly Place[], seen: Set<Place>): Promise<readonly Place[]> {
  const known = before.filter((place) => seen.delete(place));
  return await sortInTurns(known, [...seen]);
}

/** The index of the first place after those of a namespace. */
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

export function isAmong(places: readonly Place[], place: Place): boolean {
  return places[firstIndex(places, (other) => other >= place)] === place;
}
