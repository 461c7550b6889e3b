import { Redis, type RedisOptions } from 'ioredis';
import { RealRedis } from '@reroll/redis/testing/real-redis';
import { SimulatedRedis } from '../server.ts';
import { LiveScheduler } from './live-scheduler.ts';

/** A real Redis and a simulated one, which are asked the same. */
export class RedisPair {
  readonly #real: RealRedis;
  readonly #owner = { name: 'spec', isAlive: true };
  readonly #opened: Redis[] = [];
  readonly simulated = new SimulatedRedis({ scheduler: new LiveScheduler() });
  /** Connections to both, the real one first. They speak RESP2, so that replies look the same. */
  readonly clients: readonly [Redis, Redis];

  private constructor(real: RealRedis) {
    this.#real = real;
    this.clients = [this.#open(real.url, { protocol: 2 }), this.simulatedClient()];
  }

  static async start(): Promise<RedisPair> {
    const real = new RealRedis();
    await real.start();
    return new RedisPair(real);
  }

  /** A connection with the settings of the processes. */
  realClient(): Redis {
    return this.#open(this.#real.url, {});
  }

  simulatedClient(): Redis {
    return this.#open('redis://simulated', { Connector: this.simulated.connectorFor(this.#owner) });
  }

  #open(url: string, options: RedisOptions): Redis {
    const redis = new Redis(url, {
      maxRetriesPerRequest: null,
      disableClientInfo: true,
      ...options,
      replyMapping: 'legacy',
    });
    this.#opened.push(redis);
    return redis;
  }

  /** What both answer to a command: texts with one character a byte, an error as its message. */
  async ask(name: string, ...args: readonly (string | number)[]): Promise<[unknown, unknown]> {
    const [real, simulated] = await Promise.all(
      this.clients.map(async (client) => {
        try {
          return plain(
            await client.callBuffer(name, ...args.map((arg) => Buffer.from(String(arg), 'latin1'))),
          );
        } catch (error) {
          return withoutLine(String(error));
        }
      }),
    );
    return [real, simulated];
  }

  async empty(): Promise<void> {
    await this.ask('FLUSHALL');
  }

  /** Whether all memory is used. */
  async setFull(isFull: boolean): Promise<void> {
    await this.clients[0].config('SET', 'maxmemory', isFull ? '1' : '0');
    this.simulated.state.isFull = isFull;
  }

  /** Whether they are replicas. */
  async setReadOnly(isReadOnly: boolean): Promise<void> {
    await this.clients[0].call('REPLICAOF', ...(isReadOnly ? ['127.0.0.1', '1'] : ['NO', 'ONE']));
    this.simulated.state.isReadOnly = isReadOnly;
  }

  /** The whole content of both. */
  async dump(): Promise<[unknown, unknown]> {
    const [real = {}, simulated = {}] = await Promise.all(this.clients.map((client) => dumpOf(client)));
    // The two are not asked at the same moment.
    for (const [key, value] of Object.entries(simulated)) {
      const expires = real[key]?.expires ?? -1;
      const isSame = expires > 0 && value.expires > 0 && Math.abs(expires - value.expires) < 3_000;
      if (isSame) value.expires = expires;
    }
    return [real, simulated];
  }

  async stop(): Promise<void> {
    for (const redis of this.#opened) redis.disconnect();
    await this.#real.stop();
  }
}

function plain(reply: unknown): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString('latin1');
  if (reply instanceof Error) return withoutLine(String(reply));
  return Array.isArray(reply) ? reply.map(plain) : reply;
}

/** The simulated Redis does not know in which line a command or an operator fails. */
export function withoutLine(message: string): string {
  return message.replaceAll(/(@?user_script):\d+/gu, '$1:0');
}

interface Dumped {
  readonly type: string;
  /** As `PTTL` says. */
  expires: number;
  readonly value: unknown;
}

async function dumpOf(client: Redis): Promise<Record<string, Dumped>> {
  const ask = async (name: string, ...args: string[]): Promise<unknown> =>
    plain(await client.callBuffer(name, ...args.map((arg) => Buffer.from(arg, 'latin1'))));
  const keys = (await ask('KEYS', '*')) as string[];
  const content: Record<string, Dumped> = {};
  for (const key of keys.sort()) {
    const type = String(await ask('TYPE', key));
    const expires = Number(await ask('PTTL', key));
    content[key] = {
      type,
      expires,
      value: await CONTENT[type]?.(ask, key),
    };
  }
  return content;
}

type Ask = (name: string, ...args: string[]) => Promise<unknown>;

/** How a value is read; where the order is not defined, sorted. */
const CONTENT: Readonly<Record<string, (ask: Ask, key: string) => Promise<unknown>>> = {
  string: (ask, key) => ask('GET', key),
  list: (ask, key) => ask('LRANGE', key, '0', '-1'),
  zset: (ask, key) => ask('ZRANGE', key, '0', '-1', 'WITHSCORES'),
  set: async (ask, key) => ((await ask('SMEMBERS', key)) as string[]).sort(),
  hash: async (ask, key) => {
    const all = (await ask('HGETALL', key)) as string[];
    return all.flatMap((field, at) => (at % 2 === 0 ? [`${field} = ${all[at + 1]}`] : [])).sort();
  },
  stream: async (ask, key) => [await ask('XRANGE', key, '-', '+'), await ask('XLEN', key)],
};

/** Replaces what depends on the moment: ids of streams, and Unix times of today. */
export function timeless(value: unknown): unknown {
  if (typeof value === 'string')
    return value
      .replaceAll(/\b1[789]\d{11}-\d+\b/gu, '<id>')
      .replaceAll(/\b1[789]\d{11}(?:\.\d+)?\b/gu, '<time>');
  if (Array.isArray(value)) return value.map(timeless);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, timeless(each)]));
}

/** Seeded choices. */
export class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  /** From 0 to below. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  one<T>(...all: readonly [T, ...T[]]): T {
    return all[this.below(all.length)] ?? all[0];
  }

  isTrue(part = 0.5): boolean {
    return this.next() < part;
  }
}
