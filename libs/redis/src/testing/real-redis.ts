import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { catalogKeys, type CatalogKeys } from '../catalog/keys.ts';
import { startRedis, type RedisServer } from './redis-server.ts';

/** A real Redis for one spec file; `stop` ends everything. */
export class RealRedis {
  readonly #server: RedisServer;
  readonly #connections: Redis[] = [];
  /** A connection for direct commands. */
  readonly client: Redis;

  private constructor(server: RedisServer) {
    this.#server = server;
    this.client = this.connect();
  }

  static async start(): Promise<RealRedis> {
    const dir = join(tmpdir(), `reroll-redis-${randomBytes(4).toString('hex')}`);
    return new RealRedis(await startRedis({ dir }));
  }

  get url(): string {
    return this.#server.url;
  }

  connect(): Redis {
    const redis = new Redis(this.url, { maxRetriesPerRequest: null });
    this.#connections.push(redis);
    return redis;
  }

  /** Returns keys that no other test uses. */
  freshKeys(): CatalogKeys {
    return catalogKeys({ cluster: randomBytes(4).toString('hex'), namespace: 'spec' });
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.disconnect();
    await this.#server.stop();
  }
}
