import { randomBytes } from 'node:crypto';
import { CatalogError } from '../connection/errors.ts';
import type { RedisClient } from '../connection/redis.ts';

/**
 * Returns the secret for showing hashes of Secrets (`shownHash`), the same for every admin; the first caller creates it. `key`:
 * `CatalogKeys.shownHashKey`. Call it for each request, because a Redis that was emptied gets another secret.
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
