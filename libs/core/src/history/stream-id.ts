/** Id of an entry in a Redis stream, `<Unix ms by Redis' clock>-<n>`. Ids of one stream increase. */
export type StreamId = string;

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
