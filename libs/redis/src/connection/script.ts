import { createHash } from 'node:crypto';
import type { RedisClient } from './redis.ts';

type Command = (this: RedisClient, ...given: (string | number)[]) => Promise<unknown>;

/** A Lua script. Its text is sent once for each connection, and then its digest. */
export class Script {
  readonly text: string;
  readonly #name: string;

  constructor(text: string) {
    this.text = text;
    this.#name = `reroll:${createHash('sha256').update(text).digest('hex')}`;
  }

  /** Rejects with ioredis' error. */
  async run(
    redis: RedisClient,
    keys: readonly string[],
    values: readonly (string | number)[] = [],
  ): Promise<unknown> {
    if (!(this.#name in redis.scriptsSet)) redis.defineCommand(this.#name, { lua: this.text });
    const command = Reflect.get(redis, this.#name) as Command;
    return await command.call(redis, keys.length, ...keys, ...values);
  }
}
