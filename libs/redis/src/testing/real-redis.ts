import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, vi } from 'vitest';
import { catalogKeys, type CatalogKeys } from '../catalog/keys.ts';
import { startRedis, type RedisServer } from './redis-server.ts';

/** A real Redis for the tests of a file, with a prefix of its own for each that asks for `freshKeys`. */
export class RealRedis {
  readonly #connections: Redis[] = [];
  #server: RedisServer | undefined;
  #client: Redis | undefined;

  async start(): Promise<void> {
    const dir = join(tmpdir(), `reroll-redis-${randomBytes(4).toString('hex')}`);
    this.#server = await startRedis({ dir });
  }

  /** @throws Error before it has started. */
  get url(): string {
    if (this.#server === undefined) throw new Error('expected Redis to be used in a test or a hook only');
    return this.#server.url;
  }

  /** A connection for direct commands. */
  get client(): Redis {
    return (this.#client ??= this.connect());
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

  /** Refuses writes from now on, because it cannot save to its disk (`MISCONF`). */
  async failToSave(): Promise<void> {
    const [, dir] = (await this.client.config('GET', 'dir')) as [string, string];
    await this.client.config('SET', 'save', '3600 1');
    rmSync(dir, { recursive: true });
    await this.client.bgsave();
    await vi.waitUntil(async () => /last_bgsave_status:err/u.test(await this.client.info('persistence')));
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.disconnect();
    await this.#server?.stop();
  }
}

/** Starts a Redis before the first test of the file, and stops it after the last. */
export function useRealRedis(): RealRedis {
  const redis = new RealRedis();
  beforeAll(() => redis.start());
  afterAll(() => redis.stop());
  return redis;
}
