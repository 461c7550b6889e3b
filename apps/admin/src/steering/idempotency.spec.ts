import type { RedisClient } from '@reroll/redis/connection/redis';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { describe, expect, it } from 'vitest';
import { Idempotency, type OnceWrite } from './idempotency.ts';

const KEYED = { actor: 'ann', key: 'k', request: 'POST /x {}', requestId: '1' };

/** A Redis that does what the two scripts do, after this many failures. */
class FailingRedis {
  readonly kept = new Map<string, string>();
  failures = 0;

  set(key: string, text: string): Promise<'OK' | null> {
    if (this.kept.has(key)) return Promise.resolve(null);
    this.kept.set(key, text);
    return Promise.resolve('OK');
  }

  get(key: string): Promise<string | null> {
    return Promise.resolve(this.kept.get(key) ?? null);
  }

  readonly scriptsSet = {};

  defineCommand(name: string): void {
    Object.assign(this, { [name]: this.#run });
  }

  #run(keys: number, key: string, ...args: string[]): Promise<number> {
    const [mine, text] = args.slice(keys - 1);
    if (this.failures > 0) {
      this.failures -= 1;
      return Promise.reject(new Error('away'));
    }
    const held = this.kept.get(key);
    if (held !== mine && (text === undefined || held !== undefined)) return Promise.resolve(0);
    if (text === undefined) this.kept.delete(key);
    else this.kept.set(key, text);
    return Promise.resolve(1);
  }
}

interface Writing {
  readonly redis: FailingRedis;
  /** What was logged. */
  readonly failures: readonly string[];
  /** How often the write was done. */
  done: number;
  once(more?: Partial<OnceWrite<string, string>>): Promise<string>;
}

function writing(): Writing {
  const redis = new FailingRedis();
  const failures: string[] = [];
  const log = { ...silentLogger, failure: (text: string) => void failures.push(text) };
  const keys = { idempotency: 'i:', idempotencyOf: 'o:' };
  const idempotency = new Idempotency(redis as unknown as RedisClient, keys, { log });
  const self: Writing = {
    redis,
    failures,
    done: 0,
    once: (more) => {
      const run = (): Promise<string> => {
        self.done += 1;
        return Promise.resolve('result');
      };
      return idempotency.once(KEYED, { run, answer: () => Promise.resolve(`answer ${self.done}`), ...more });
    },
  };
  return self;
}

const FAILS = (): Promise<never> => Promise.reject(new Error('a failure'));

describe('a write under a key', () => {
  it('is done once, and answered the same', async () => {
    const write = writing();
    expect([await write.once(), await write.once(), write.done]).toEqual(['answer 1', 'answer 1', 1]);
  });

  it('that failed may be tried again', async () => {
    const write = writing();
    await expect(write.once({ run: FAILS })).rejects.toThrow('a failure');
    expect(await write.once()).toBe('answer 1');
  });

  it('that was done and could not be audited is not done again, and a retry is told so', async () => {
    const write = writing();
    await expect(write.once({ answer: FAILS })).rejects.toThrow('a failure');
    await expect(write.once()).rejects.toMatchObject({
      code: 'Conflict',
      message: expect.stringContaining('was done'),
    });
    expect(write.done).toBe(1);
  });

  it('whose answer cannot be kept at first is answered, and answered the same', async () => {
    const write = writing();
    write.redis.failures = 2;
    expect([await write.once(), await write.once(), write.done]).toEqual(['answer 1', 'answer 1', 1]);
    expect(write.failures).toEqual([]);
  });

  it('whose answer cannot be kept at all is answered, and still holds its key', async () => {
    const write = writing();
    write.redis.failures = 3;
    expect(await write.once()).toBe('answer 1');
    expect(write.redis.kept.size).toBe(1);
    expect(write.failures).toEqual(['cannot keep the answer to a write']);
  });

  it('that failed, and whose key cannot be released, fails as it did, and the log says so', async () => {
    const write = writing();
    write.redis.failures = 1;
    await expect(write.once({ run: FAILS })).rejects.toThrow('a failure');
    expect(write.failures).toEqual(['cannot release an idempotency key']);
  });

  it('that took so long that another has the key leaves it to that one', async () => {
    const write = writing();
    const answer = (): Promise<string> => {
      for (const key of write.redis.kept.keys()) write.redis.kept.set(key, 'of another');
      return Promise.resolve('answer');
    };
    expect(await write.once({ answer })).toBe('answer');
    expect([...write.redis.kept.values()]).toEqual(['of another']);
  });
});
