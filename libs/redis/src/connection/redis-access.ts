import type { RedisOptions } from 'ioredis';

/**
 * How to reach Redis: the options of the same names, already validated together. At most one of URL, host, Sentinels and Cluster is
 * given (default `redis://127.0.0.1:6379`).
 */
export interface RedisAccess {
  readonly redisUrl?: string | undefined;
  readonly redisHost?: string | undefined;
  /** Default 6379. */
  readonly redisPort?: number | undefined;
  readonly redisCluster?: readonly RedisAddress[];
  readonly redisSentinels?: readonly RedisAddress[];
  readonly redisSentinelMaster?: string | undefined;
  readonly redisSentinelUsername?: string | undefined;
  readonly redisSentinelPassword?: string | undefined;
  readonly redisSentinelPasswordFile?: string | undefined;
  readonly redisUsername?: string | undefined;
  readonly redisPassword?: string | undefined;
  readonly redisPasswordFile?: string | undefined;
  /** Default 0. */
  readonly redisDb?: number | undefined;
  readonly redisTls?: boolean;
  readonly redisTlsCaFile?: string | undefined;
  readonly redisTlsCertFile?: string | undefined;
  readonly redisTlsKeyFile?: string | undefined;
  readonly redisTlsServerName?: string | undefined;
  readonly redisTlsInsecureSkipVerify?: boolean;
  /** Path of a Unix socket, in place of the others. No option of a process sets it; a standalone process does for its own Redis. */
  readonly redisSocket?: string | undefined;
  /** Opens the streams to a server in place of TCP and TLS. No option of a process sets it; not for Cluster. */
  readonly redisConnector?: RedisOptions['Connector'];
}

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

export function usesTls({ redisUrl = '', redisTls = false }: RedisAccess): boolean {
  return redisTls || redisUrl.startsWith('rediss:');
}
