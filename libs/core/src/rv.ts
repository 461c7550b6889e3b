/**
 * A resourceVersion of one etcd, as a decimal string. Compared as an integer of any size, by length and
 * then by digits, so nothing is rounded. `'0'` stands for "unknown, before everything".
 */
export type Rv = string;

export const RV_UNKNOWN: Rv = '0';

/** Negative if `a` is older than `b`, 0 if they are the same, positive if it is newer. */
export function compareRv(a: Rv, b: Rv): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export function isNewer(a: Rv, b: Rv): boolean {
  return compareRv(a, b) > 0;
}

export function maxRv(a: Rv, b: Rv): Rv {
  return compareRv(a, b) >= 0 ? a : b;
}

export function isRv(text: unknown): text is Rv {
  return typeof text === 'string' && /^(0|[1-9]\d*)$/.test(text);
}

/**
 * Returns the resourceVersion that the API served. Throws a `TypeError` for anything but a decimal number: an aggregated API may
 * serve other text, and such an object cannot be ordered.
 */
export function parseRv(text: unknown): Rv {
  if (!isRv(text)) {
    throw new TypeError(`expected a resourceVersion (a decimal number), given ${JSON.stringify(text)}`);
  }
  return text;
}
