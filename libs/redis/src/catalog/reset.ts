import type { Rv } from '@reroll/core/rv';
import type { CatalogKeys } from './keys.ts';
import type { RedisClient } from '../connection/redis.ts';

/** Rows looked at, and keys removed, in one command. */
const PER_COMMAND = 500;

/**
 * Empties the catalog after etcd was restored: rows and readings are of a history of etcd that is no more, and their
 * resourceVersions are compared with those of the present one. Queues, requests, limits and the history stay.
 *
 * The writer is set first, to the term `fence`: whoever led before that is refused from then on, and whoever leads later
 * begins a chain of writes. May be repeated, also while a new leader writes: it asserts what is missing.
 * Rejects with ioredis' error.
 */
export async function resetCatalog(redis: RedisClient, keys: CatalogKeys, fence: Rv): Promise<void> {
  await redis.set(keys.writer, `${fence}:0`);
  for await (const sources of eachSourceOf(redis, keys)) await removeKeysOf(redis, keys, sources);
  await redis.unlink(keys.sources, keys.workloads, keys.before, keys.pretended, keys.rollouts);
}

/** Sources that have a row, or by which a workload is to be found; one may come twice. */
async function* eachSourceOf(redis: RedisClient, keys: CatalogKeys): AsyncGenerator<string[]> {
  for await (const fields of eachField(redis, keys.sources)) yield fields.map(([source]) => source);
  for await (const fields of eachField(redis, keys.workloads))
    yield [...new Set(fields.flatMap(([, row]) => indexOf(row)))];
}

async function* eachField(redis: RedisClient, hash: string): AsyncGenerator<[string, string][]> {
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscan(hash, cursor, 'COUNT', PER_COMMAND);
    cursor = next;
    yield Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at] ?? '', flat[2 * at + 1] ?? '']);
  } while (cursor !== '0');
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

/** Of the text of a workload's row, as `row-codec.ts` writes it; none of what nobody of ours can have written. */
function indexOf(text: string): string[] {
  try {
    const index: unknown = (JSON.parse(text) as { i?: unknown } | null)?.i;
    return Array.isArray(index) ? index.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}
