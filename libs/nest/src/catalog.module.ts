import { Module } from '@nestjs/common';
import type { InstallIdentity } from '@reroll/kube/install-identity';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { claimWhenReachable } from '@reroll/redis/catalog/claim';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { checkServers } from '@reroll/redis/connection/redis-checks';
import { RedisRoom } from '@reroll/redis/connection/redis-room';
import { History } from '@reroll/redis/history/history';
import { RolloutWriter } from '@reroll/redis/history/rollout-writer';
import { RuntimeLimits } from '@reroll/redis/processes/limits';
import { Processes } from '@reroll/redis/processes/processes';
import { RolloutSlots } from '@reroll/redis/queue/rollout-slots';
import { historyLimits } from '@reroll/shared/platform/options/history-limits';
import { HealthModule, Readiness } from './health.module.ts';
import { Heartbeats } from './heartbeats.ts';
import { KubeModule } from './kube.module.ts';
import { Process } from './process.ts';
import { provided } from './provided.ts';
import { RedisConnection, RedisModule } from './redis.module.ts';
import { RoomHooks } from './room-hooks.ts';
import { IDENTITY, REDIS } from './tokens.ts';

/** Provides what works with Redis, once the install's prefix is claimed and the servers are checked. */
@Module({
  imports: [HealthModule, KubeModule, RedisModule],
  providers: [
    provided(Catalog, [Process, RedisConnection, IDENTITY, Readiness], claimed),
    provided(
      History,
      [Process, Catalog, REDIS],
      ({ options }, { keys }, redis) => new History(redis, keys, historyLimits(options)),
    ),
    provided(Processes, [Catalog, REDIS], ({ keys }, redis) => new Processes(redis, keys)),
    provided(ReloadRequests, [Catalog, REDIS], ({ keys }, redis) => new ReloadRequests(redis, keys.requests)),
    provided(RuntimeLimits, [Catalog, REDIS], ({ keys }, redis) => new RuntimeLimits(redis, keys.limits)),
    RoomHooks,
    provided(RedisRoom, [Process, Catalog, RedisConnection, RoomHooks], roomOf),
    provided(
      RolloutWriter,
      [Process, Catalog, REDIS, RedisRoom],
      ({ options }, { keys }, redis, room) =>
        new RolloutWriter(redis, keys, { ...historyLimits(options), isFull: () => room.isFull }),
    ),
    provided(RolloutSlots, [Catalog, REDIS], ({ keys }, redis) => new RolloutSlots(redis, keys)),
    provided(
      Heartbeats,
      [Process, Processes, RedisRoom, RedisConnection],
      (process, processes, room, { reports }) => new Heartbeats({ process, processes, room, reports }),
    ),
  ],
  exports: [
    Catalog,
    History,
    Processes,
    ReloadRequests,
    RuntimeLimits,
    RoomHooks,
    RedisRoom,
    RolloutWriter,
    RolloutSlots,
    Heartbeats,
  ],
})
export class CatalogModule {}

/** Exported for its spec. */
export async function claimed(
  process: Process,
  redis: RedisConnection,
  identity: InstallIdentity,
  readiness: Readiness,
): Promise<Catalog> {
  const { client, reports, waiting } = redis;
  const keys = catalogKeys({ ...identity, lease: process.options.leaseName });
  const catalog = new Catalog(client, keys, {
    hash: process.options.hash ?? 'auto',
    keys: process.hashKeys,
  });
  readiness.add('redis', () => catalog.ask().then(() => undefined));
  await claimWhenReachable(catalog, identity.uid, waiting);
  await checkServers(client, waiting, (policy) => reports.onEvicting(policy));
  process.lifecycle.signal.throwIfAborted();
  return catalog;
}

function roomOf(
  { log }: Process,
  { keys }: Catalog,
  { client: redis, reports }: RedisConnection,
  hooks: RoomHooks,
): RedisRoom {
  return new RedisRoom({
    redis,
    keys,
    trims: () => hooks.trims(),
    onRoom: (isFull) => {
      reports.onRoom(isFull);
      hooks.onRoom(isFull);
    },
    onLook: (memory) => reports.onLook(memory),
    onError: (error) => log.failure('cannot drop the history', error),
  });
}
