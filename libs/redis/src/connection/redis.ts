import type { Cluster, Redis, RedisOptions } from 'ioredis';
import type { RedisAccess } from './redis-access.ts';
import { RedisCluster } from './redis-cluster.ts';
import { redisErrorCode } from './redis-error-code.ts';
import { RedisSecrets } from './redis-secrets.ts';
import { RedisServer, serverOptions } from './redis-server.ts';

/** A command fails after this many milliseconds without an answer; the caller decides what to do. */
const COMMAND_TIMEOUT = 10_000;
const WAITING_TIMEOUT = 3 * COMMAND_TIMEOUT;
/** A server that hangs has this many milliseconds to close a connection, so that a process that ends does not wait for it. */
const DISCONNECT_TIMEOUT = 500;

/** The connection for catalog, history and queues. On a Cluster every key has the same hash tag. */
export type RedisClient = Redis | Cluster;

export interface RedisHooks {
  /** Called when the connection was lost, could not be opened or was refused, with the class of the error only. */
  onDown(errorClass: string): void;
  onUp(): void;
}

/**
 * Opens a connection for catalog and history. It reconnects for ever with growing pauses, and a command fails after ten seconds.
 * The caller closes it.
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
  // Without automatic pipelines, which would wait for an unreachable Cluster without a deadline.
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
    disconnectTimeout: DISCONNECT_TIMEOUT,
    enableAutoPipelining: true,
    // Client info would need another permission, and is refused before Redis 7.2.
    disableClientInfo: true,
  };
}

/**
 * Opens such a connection for waiting for jobs. BullMQ waits in one command of up to ten seconds, which needs a longer deadline;
 * otherwise every long wait ends as an error and new jobs wait for seconds. The caller closes it. The given connection reports that
 * Redis is down or up.
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
