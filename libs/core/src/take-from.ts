/** Removes up to `most` items, those that were added first, and returns them. */
export function takeFrom<T>(set: Set<T>, most: number): T[] {
  const taken: T[] = [];
  for (const item of set) {
    if (taken.length >= most) break;
    taken.push(item);
    set.delete(item);
  }
  return taken;
}
