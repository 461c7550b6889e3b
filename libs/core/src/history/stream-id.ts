/** Id of an entry in a Redis stream, `<Unix ms by Redis' clock>-<n>`. Ids of one stream increase. */
export type StreamId = string;

/** An entry that was dropped before older ones of other shares. `share`: its namespace, or '' if that is not known. */
export interface Dropped {
  readonly id: StreamId;
  readonly share: string;
}

/** Returns the first id that is after this one. */
export function afterId(id: StreamId): StreamId {
  return `${id.slice(0, id.indexOf('-'))}-${orderOf(id) + 1}`;
}

/** Unix milliseconds by Redis' clock at which the entry was added. */
export function millisecondsOf(id: StreamId): number {
  return Number(id.slice(0, id.indexOf('-')));
}

function orderOf(id: StreamId): number {
  return Number(id.slice(id.indexOf('-') + 1));
}

/** Negative if `a` comes before `b`. */
export function compareIds(a: StreamId, b: StreamId): number {
  return millisecondsOf(a) - millisecondsOf(b) || orderOf(a) - orderOf(b);
}

/** Returns the index of the first entry that is not before the id, in a list that is sorted by id. */
export function indexOfId(sorted: readonly { readonly id: StreamId }[], id: StreamId): number {
  return firstIndex(sorted, (item) => compareIds(item.id, id) >= 0);
}

/** Removes, and returns, the items before an id; with `one`, which is the last of them, only that one. */
export function takeDropped<Item extends { readonly id: StreamId }>(
  sorted: Item[],
  before: StreamId,
  one?: Dropped,
): Item[] {
  const from = one ? indexOfId(sorted, one.id) : 0;
  return sorted.splice(from, Math.max(0, indexOfId(sorted, before) - from));
}

/** Returns the index of the first item of a sorted list for which `isReached` holds; the length if none. */
export function firstIndex<Item>(sorted: readonly Item[], isReached: (item: Item) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = sorted[middle];
    if (item !== undefined && !isReached(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
