import { jsonFields } from '@reroll/core/json';
import type { Rv } from '@reroll/core/rv';
import type { CatalogKeys } from './keys.ts';
import type { RedisClient } from '../connection/redis.ts';
import { scanHash } from './scan-hash.ts';

/** Rows read, or keys removed, by one command. */
const PER_COMMAND = 500;

/**
 * Empties the catalog after a restore of etcd, because rows and readings belong to a history of etcd that no longer exists, and
 * their resourceVersions would be compared with present ones. Queues, requests, limits and the history stay. Sets the writer first,
 * to the term `fence`: earlier leaders are refused from then on, and later leaders begin a chain of writes. May be repeated, even
 * while a new leader writes, which asserts what is missing. Rejects with ioredis' error.
 */
export async function resetCatalog(redis: RedisClient, keys: CatalogKeys, fence: Rv): Promise<void> {
  await redis.set(keys.writer, `${fence}:0`);
  for await (const sources of eachSourceOf(redis, keys)) await removeKeysOf(redis, keys, sources);
  await redis.unlink(keys.sources, keys.workloads, keys.before, keys.pretended, keys.rollouts);
}

/** Yields the sources that have a row or index a workload; a source may come twice. */
async function* eachSourceOf(redis: RedisClient, keys: CatalogKeys): AsyncGenerator<string[]> {
  const count = PER_COMMAND;
  for await (const { fields } of scanHash(redis, keys.sources, { count })) yield [...fields];
  for await (const { texts } of scanHash(redis, keys.workloads, { count }))
    yield [...new Set(texts.flatMap(indexOf))];
}

async function removeKeysOf(
  redis: RedisClient,
  keys: CatalogKeys,
  sources: readonly string[],
): Promise<void> {
  const names = sources.flatMap((source) => [keys.users + source, keys.readings + source]);
  for (let at = 0; at < names.length; at += PER_COMMAND)
    await redis.unlink(...names.slice(at, at + PER_COMMAND));
}

/** Returns the index in the text of a workload's row (see `row-codec.ts`); empty if the text is invalid. */
function indexOf(text: string): string[] {
  const { i: index } = jsonFields(text);
  return Array.isArray(index) ? index.filter((each) => typeof each === 'string') : [];
}
