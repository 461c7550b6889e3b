import type { ConnectionOptions } from 'node:tls';
import type { RedisOptions } from 'ioredis';
import { usesTls, type RedisAccess } from './redis-access.ts';
import { RotatedContext } from './rotated-context.ts';
import { RotatedFile } from './rotated-file.ts';

type Credentials = Pick<RedisOptions, 'username' | 'password' | 'sentinelUsername' | 'sentinelPassword'>;

/** Passwords and certificates of a connection, as their files hold them now. */
export class RedisSecrets {
  readonly #access: RedisAccess;
  readonly #password: RotatedFile;
  readonly #sentinelPassword: RotatedFile;
  /** Each attempt to connect reads the certificates again: ioredis copies this object, which runs the getter. */
  readonly tls: ConnectionOptions | undefined;

  constructor(access: RedisAccess) {
    this.#access = access;
    this.#password = new RotatedFile(access.redisPasswordFile);
    this.#sentinelPassword = new RotatedFile(access.redisSentinelPasswordFile);
    this.tls = usesTls(access) ? tlsOf(access) : undefined;
  }

  /** Returns the credentials that are given separately from the address. */
  credentials(): Credentials {
    const { redisUsername, redisPassword, redisSentinelUsername, redisSentinelPassword } = this.#access;
    return withoutUndefined({
      username: redisUsername,
      password: redisPassword ?? this.#password.readLine(),
      sentinelUsername: redisSentinelUsername,
      sentinelPassword: redisSentinelPassword ?? this.#sentinelPassword.readLine(),
    });
  }
}

function tlsOf(access: RedisAccess): ConnectionOptions {
  const context = new RotatedContext({
    ca: access.redisTlsCaFile,
    cert: access.redisTlsCertFile,
    key: access.redisTlsKeyFile,
  });
  const servername = access.redisTlsServerName;
  return {
    get secureContext() {
      return context.current();
    },
    ...(servername === undefined ? {} : { servername }),
    rejectUnauthorized: access.redisTlsInsecureSkipVerify !== true,
  };
}

function withoutUndefined<T extends object>(all: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as T;
}
