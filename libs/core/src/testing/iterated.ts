/** Returns how many elements of arrays and sets `run` iterates over, and so how many it copies by spreading. `run` must be synchronous. */
export function iterated(run: () => void): number {
  let count = 0;
  const add = (size: number): void => {
    count += size;
  };
  const undoArray = counted<readonly unknown[]>(Array.prototype, ({ length }) => add(length));
  const undoSet = counted<ReadonlySet<unknown>>(Set.prototype, ({ size }) => add(size));
  try {
    run();
  } finally {
    undoArray();
    undoSet();
  }
  return count;
}

/** Calls `tell` at the beginning of each iteration. Returns a function that ends this. */
function counted<Self>(prototype: object, tell: (self: Self) => void): () => void {
  const before = Object.getOwnPropertyDescriptor(prototype, Symbol.iterator) as PropertyDescriptor;
  const values = before.value as (this: Self) => IterableIterator<unknown>;
  const value = function counting(this: Self) {
    tell(this);
    return values.call(this);
  };
  Object.defineProperty(prototype, Symbol.iterator, { ...before, value });
  return () => Object.defineProperty(prototype, Symbol.iterator, before);
}
