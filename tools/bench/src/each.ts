export interface EachOptions {
  /** At most so many at a time. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Does the work for every item, some at a time, in order. The first failure is thrown when the work that
 * had begun is done; nothing begins after it.
 */
export async function forEach<T>(
  items: readonly T[],
  options: EachOptions,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const lane = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const index = next;
      next += 1;
      try {
        options.signal?.throwIfAborted();
        await work(items[index] as T, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const lanes = Array.from({ length: Math.min(options.concurrency, items.length) }, lane);
  const results = await Promise.allSettled(lanes);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
}
