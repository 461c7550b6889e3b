import { shareScript } from './shared-scripts.ts';
import { Redis, type RedisOptions } from 'ioredis';
import { dropFailed } from './offline-queue.ts';
import { forgetClosed } from './forget-closed.ts';
import { reconnectDelay } from './reconnect-delay.ts';
import type { RedisAccess } from './redis-access.ts';
import { redisErrorCode } from './redis-error-code.ts';
import type { RedisSecrets } from './redis-secrets.ts';
import { LastingSentinelConnector } from './sentinel-connector.ts';

const LOCAL = 'redis://127.0.0.1:6379';
/** After this time (ms) without an answer from a Sentinel, the next one is asked. */
const SENTINEL_TIMEOUT = 2_000;

/** A connection to one Redis, or to the master that Sentinels name. Each attempt to connect uses the current secrets. */
export class RedisServer extends Redis {
  constructor(options: RedisOptions, secrets: RedisSecrets) {
    super({ ...options, ...secrets.credentials(), replyMapping: 'legacy' });
    this.on('close', () => Object.assign(this.options, secrets.credentials()));
    // BullMQ opens its own connections with this.
    this.duplicate = ((override?: Partial<RedisOptions>) =>
      new RedisServer({ ...this.options, ...override }, secrets)) as Redis['duplicate'];
  }

  override sendCommand(...sent: Parameters<Redis['sendCommand']>): unknown {
    dropFailed(this);
    return super.sendCommand(...sent);
  }

  override defineCommand(...defined: Parameters<Redis['defineCommand']>): void {
    super.defineCommand(...defined);
    shareScript(this, defined[0]);
  }

  override disconnect(reconnect = false): void {
    if (!reconnect) forgetClosed(this);
    super.disconnect(reconnect);
  }
}

/**
 * Reconnects if the server has become a replica, because another one is the master. Before Redis 7, the error of a script begins with
 * other words.
 */
function isNoMaster(error: Error): 2 | false {
  return redisErrorCode(error) === 'READONLY' ? 2 : false;
}

/** Returns ioredis' options for a URL, a host or Sentinels. */
export function serverOptions(access: RedisAccess, { tls }: RedisSecrets): RedisOptions {
  const { redisHost, redisPort = 6379, redisDb, redisSentinels = [], redisSocket, redisConnector } = access;
  const common: RedisOptions = {
    retryStrategy: reconnectDelay,
    reconnectOnError: isNoMaster,
    ...(redisDb === undefined ? {} : { db: redisDb }),
    ...(redisConnector === undefined ? {} : { Connector: redisConnector }),
    ...(tls ? { tls } : {}),
  };
  if (redisSentinels.length > 0) return { ...sentinelOptions(access, tls), ...common };
  if (redisSocket !== undefined) return { ...common, path: redisSocket };
  if (redisHost !== undefined) return { ...common, host: redisHost, port: redisPort };
  return { ...urlOptions(access.redisUrl ?? LOCAL), ...common };
}

function sentinelOptions(access: RedisAccess, tls: RedisSecrets['tls']): RedisOptions {
  const { redisSentinels = [], redisSentinelMaster = '' } = access;
  return {
    sentinels: [...redisSentinels],
    name: redisSentinelMaster,
    sentinelCommandTimeout: SENTINEL_TIMEOUT,
    sentinelRetryStrategy: reconnectDelay,
    sentinelReconnectStrategy: reconnectDelay,
    // A master that hangs closes no connection; the Sentinels report that it was replaced.
    failoverDetector: true,
    Connector: LastingSentinelConnector,
    ...(tls ? { sentinelTLS: tls, enableTLSForSentinelMode: true } : {}),
  };
}

/** Parses `redis://user:password@host:port/db`; the query holds further options of ioredis. */
function urlOptions(text: string): RedisOptions {
  const url = new URL(text);
  const db = url.pathname.slice(1);
  const family = url.searchParams.get('family');
  return {
    ...Object.fromEntries(url.searchParams),
    ...(family === null ? {} : { family: Number(family) }),
    host: url.hostname.replaceAll(/^\[|\]$/gu, ''),
    port: Number(url.port || 6379),
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(db === '' ? {} : { db: Number(db) }),
  };
}
