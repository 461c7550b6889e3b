const PATCHED = [
  [Map.prototype, 'keys'],
  [Map.prototype, 'values'],
  [Map.prototype, 'entries'],
  [Map.prototype, Symbol.iterator],
  [Set.prototype, 'keys'],
  [Set.prototype, 'values'],
  [Set.prototype, Symbol.iterator],
] as const;

/** Counts the entries of Maps and Sets that `work` iterates over; lookups by key are free. */
export function entriesVisited(work: () => void): number {
  let visited = 0;
  function* counted(items: Iterator<unknown>): Generator {
    for (let next = items.next(); next.done !== true; next = items.next()) {
      visited += 1;
      yield next.value;
    }
  }
  const originals = PATCHED.map(([of, name]) => [of, name, Reflect.get(of, name)] as const);
  for (const [of, name, original] of originals) {
    Reflect.set(of, name, function patched(this: unknown) {
      return counted(Reflect.apply(original as () => Iterator<unknown>, this, []));
    });
  }
  try {
    work();
  } finally {
    for (const [of, name, original] of originals) Reflect.set(of, name, original);
  }
  return visited;
}
