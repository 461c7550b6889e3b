import type { Cluster, Redis, RedisOptions } from 'ioredis';
import type { RedisAccess } from './redis-access.ts';
import { RedisCluster } from './redis-cluster.ts';
import { redisErrorCode } from './redis-error-code.ts';
import { RedisSecrets } from './redis-secrets.ts';
import { RedisServer, serverOptions } from './redis-server.ts';

/** A command that has no answer after so many milliseconds fails; the caller decides what then. */
const COMMAND_TIMEOUT = 10_000;
const WAITING_TIMEOUT = 3 * COMMAND_TIMEOUT;

/** What catalog, history and queues work on. On a Cluster every key has the same hash tag. */
export type RedisClient = Redis | Cluster;

export interface RedisHooks {
  /** The connection was lost, could not be made or was refused; only the class of what went wrong. */
  onDown(errorClass: string): void;
  onUp(): void;
}

/**
 * A connection for catalog and history: it reconnects for ever with growing pauses, and a command fails
 * after ten seconds rather than wait for ever. The caller closes it.
 */
export function openRedis(access: RedisAccess, hooks: RedisHooks): RedisClient {
  const { redisCluster = [] } = access;
  return redisCluster.length > 0 ? openCluster(access, hooks) : openServer(access, hooks);
}

function openServer(access: RedisAccess, hooks: RedisHooks): RedisServer {
  const secrets = new RedisSecrets(access);
  const redis = new RedisServer({ ...serverOptions(access, secrets), ...commandOptions() }, secrets);
  const onDown = (error: Error): void => hooks.onDown(redisErrorCode(error));
  redis.on('error', onDown);
  redis.on('sentinelError', onDown);
  redis.on('ready', () => hooks.onUp());
  return redis;
}

function openCluster(access: RedisAccess, hooks: RedisHooks): RedisCluster {
  const { redisCluster = [] } = access;
  const secrets = new RedisSecrets(access);
  const tls = secrets.tls === undefined ? {} : { tls: secrets.tls };
  // Without automatic pipelines: those would wait for a Cluster that cannot be reached without a deadline.
  const options = { ...commandOptions(), enableAutoPipelining: false, ...tls };
  const redis = new RedisCluster(redisCluster, options, secrets);
  const onDown = (error: Error): void => hooks.onDown(redisErrorCode(error));
  redis.on('error', onDown);
  redis.on('node error', onDown);
  redis.on('ready', () => hooks.onUp());
  redis.on('+node', (node: Redis) => node.on('ready', () => hooks.onUp()));
  return redis;
}

function commandOptions(): RedisOptions {
  return {
    maxRetriesPerRequest: null,
    commandTimeout: COMMAND_TIMEOUT,
    enableAutoPipelining: true,
    // It would ask for a right, and before Redis 7.2 be refused.
    disableClientInfo: true,
  };
}

/**
 * A connection of the same kind for those who wait for jobs: BullMQ does so in one command of up to ten
 * seconds, which must have an answer before its deadline, or every long wait ends as an error and new jobs
 * lie for seconds. The caller closes it. Its ups and downs are told by the connection given.
 */
export function openForWaiting(redis: RedisClient): RedisClient {
  const options = { commandTimeout: WAITING_TIMEOUT };
  const waiting = isCluster(redis)
    ? redis.duplicate([], { redisOptions: options })
    : redis.duplicate(options);
  waiting.on('error', () => undefined);
  return waiting;
}

export function isCluster(redis: RedisClient): redis is Cluster {
  return redis.isCluster;
}
