import { randomBytes } from 'node:crypto';
import { CatalogError } from '../connection/errors.ts';
import type { RedisClient } from '../connection/redis.ts';

/**
 * The secret under which hashes of Secrets are shown (`shownHash`), the same for every admin: made by the first that asks.
 * `key`: `CatalogKeys.shownHashKey`. Ask with each request, for a Redis that was emptied has another one.
 */
export async function shownHashKey(redis: RedisClient, key: string): Promise<string> {
  const held = await redis.get(key);
  if (held !== null) return held;
  await redis.set(key, randomBytes(32).toString('base64url'), 'NX');
  const made = await redis.get(key);
  if (made === null)
    throw new CatalogError('CATALOG_BAD_REPLY', 'expected the key that was just written, given none');
  return made;
}
