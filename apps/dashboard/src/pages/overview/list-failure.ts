import type { CallError } from '../../api/client.ts';

/** One of the lists that the overview is made of. */
export interface AskedList {
  /** For a sentence: `failed jobs`. */
  readonly what: string;
  readonly data: unknown;
  readonly knownAt: Date | undefined;
  readonly error: CallError | undefined;
}

export interface ListFailure {
  readonly error: CallError;
  /** What could not be read: `failed jobs, halted changes`. */
  readonly what: string;
  /** Since when the oldest of it is known; undefined: some of it is not known. */
  readonly knownAt: Date | undefined;
}

/** What could not be read of some lists; undefined: nothing. */
export function failureOf(lists: readonly AskedList[]): ListFailure | undefined {
  const failed = lists.filter(({ error }) => error !== undefined);
  const error = failed[0]?.error;
  if (!error) return undefined;
  const isAll = failed.length === lists.length;
  return {
    error,
    what: isAll ? 'the state of the cluster' : failed.map(({ what }) => what).join(', '),
    knownAt: oldestOf(failed.map(({ knownAt }) => knownAt)),
  };
}

/** Undefined if one of them is not known. */
export function oldestOf(times: readonly (Date | undefined)[]): Date | undefined {
  const known = times.filter((time) => time !== undefined).toSorted((one, other) => +one - +other);
  return known.length === times.length ? known[0] : undefined;
}

/** Whether each list has answered or failed, and one of them has told something. */
export function isTold(lists: readonly AskedList[]): boolean {
  const isOver = lists.every(({ data, error }) => data !== undefined || error !== undefined);
  return isOver && lists.some(({ data }) => data !== undefined);
}
