import { CatalogError } from './errors.ts';
import { fieldOf } from './redis-info.ts';
import { isCluster, type RedisClient } from './redis.ts';
import { whenReachable, type Waiting } from './when-reachable.ts';

/** Needed to trim streams by MINID, and recommended by BullMQ. */
const OLDEST = [6, 2] as const;
/** With this policy a full Redis drops nothing: writes fail and are retried. */
const SAFE = 'noeviction';

/**
 * Checks the server, or each master of a Cluster, once it can be reached; false if the signal fires first. Reports each policy that
 * would drop jobs; a policy that a managed server hides is assumed to be right. Rejects with REDIS_TOO_OLD.
 */
export async function checkServers(
  redis: RedisClient,
  waiting: Waiting,
  onEvicting: (policy: string) => void,
): Promise<boolean> {
  const infos = await whenReachable(() => infoOfEach(redis), waiting);
  if (infos === undefined) return false;
  for (const info of infos) refuseOld(info);
  const policies = infos.map((info) => fieldOf(info, 'maxmemory_policy') ?? SAFE);
  for (const policy of new Set(policies)) if (policy !== SAFE) onEvicting(policy);
  return true;
}

async function infoOfEach(redis: RedisClient): Promise<string[]> {
  if (!isCluster(redis)) return [await redis.info()];
  // After the answer, the nodes are known. A node that cannot save refuses PING.
  await redis.time();
  return await Promise.all(redis.nodes('master').map((node) => node.info()));
}

function refuseOld(info: string): void {
  const version = /^\d+\.\d+(?:\.\d+)?/u.exec(fieldOf(info, 'redis_version') ?? '')?.[0];
  if (version === undefined) return;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new CatalogError('REDIS_TOO_OLD', `expected Redis ${OLDEST.join('.')} or later, found ${version}`);
}
