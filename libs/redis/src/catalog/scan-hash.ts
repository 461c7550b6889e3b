import type { RedisClient } from '../connection/redis.ts';

export interface ScanOptions {
  /** Rows of a portion, roughly and at most. Default: 1,000. */
  readonly count?: number | undefined;
  /** Only fields of this pattern. */
  readonly match?: string | undefined;
}

/** Some fields of a hash, each with its value at the same index. */
export interface Fields<Field extends string> {
  readonly fields: readonly Field[];
  readonly texts: readonly string[];
}

/** Characters of the values in a portion, roughly: of ordinary rows, more than `MOST_ROWS` take. */
export const SIZE_OF_PORTION = 2 * 1024 * 1024;
const MOST_ROWS = 1_000;
const FIRST_ROWS = 4;
const GROWTH = 4;

/**
 * Yields a hash in portions, unordered; a field may come twice. HSCAN limits only their number, so that follows the size of the rows
 * before. Large rows are spread over the hash at random, so the next portion has about as many.
 */
export async function* scanHash<Field extends string>(
  redis: Pick<RedisClient, 'hscan'>,
  hash: string,
  { count = MOST_ROWS, match }: ScanOptions = {},
): AsyncGenerator<Fields<Field>, void, void> {
  let cursor = '0';
  let rows = Math.min(FIRST_ROWS, count);
  do {
    const [next, flat] = await (match === undefined
      ? redis.hscan(hash, cursor, 'COUNT', rows)
      : redis.hscan(hash, cursor, 'MATCH', match, 'COUNT', rows));
    cursor = next;
    const portion = fieldsIn<Field>(flat);
    const fitting = Math.floor((rows * SIZE_OF_PORTION) / sizeOf(portion));
    yield portion;
    rows = Math.max(1, Math.min(count, fitting, rows * GROWTH));
  } while (cursor !== '0');
}

/** At least 1. */
function sizeOf({ texts }: Fields<string>): number {
  let size = 1;
  for (const { length } of texts) size += length;
  return size;
}

/** Of a reply of HSCAN, in which each field is followed by its value. */
function fieldsIn<Field extends string>(flat: readonly string[]): Fields<Field> {
  const fields: Field[] = [];
  const texts: string[] = [];
  for (let at = 0; at < flat.length; at += 2) {
    fields.push(flat[at] as Field);
    texts.push(flat[at + 1] ?? '');
  }
  return { fields, texts };
}
