import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Choices, RedisPair } from './testing/redis-pair.ts';

const ROUNDS = 5;
const COMMANDS_PER_ROUND = 150;

let pair: RedisPair;
beforeAll(async () => {
  pair = await RedisPair.start();
});
afterAll(() => pair.stop());

type Command = readonly [string, ...(string | number)[]];

/** Random arguments. */
class Random extends Choices {
  /** Mostly a key of the type, at times one of another. */
  key(type: string): string {
    const name = this.isTrue(0.03) ? this.one('string', 'hash', 'list', 'set', 'zset', 'stream') : type;
    return `${name}:${this.below(3)}`;
  }

  text(): string {
    return this.one('a', 'b', 'c', 'd', 'e', 'longer text', '7', '-3', '\xe9\xff', '', 'B');
  }

  number(): number {
    return this.one(0, 1, 2, -1, -2, 5, 10, 100);
  }

  score(): string {
    return this.one('1', '2', '2.5', '-1', '0', '1e3', '3.14159', 'inf', '-inf', '1700000000000');
  }

  bound(): string {
    return (this.isTrue(0.3) ? '(' : '') + this.one('-inf', '0', '1', '2', '2.5', '+inf', '1000');
  }

  lexBound(): string {
    return this.one('-', '+', '[a', '(a', '[c', '(c', '[longer text', '[');
  }

  id(): string {
    return `${this.below(30)}-${this.below(3)}`;
  }

  /** The arguments or none. */
  maybe(...args: (string | number)[]): (string | number)[] {
    return this.isTrue(0.4) ? args : [];
  }
}

const COMMANDS: Readonly<Record<string, (r: Random) => Command>> = {
  strings: (r) =>
    r.one<Command>(
      [
        'SET',
        r.key('string'),
        r.text(),
        ...r.maybe(r.one('NX', 'XX', 'KEEPTTL', 'GET')),
        ...r.maybe('PX', 90_000),
      ],
      ['GET', r.key('string')],
      ['INCRBY', r.key('string'), r.number()],
      ['INCR', r.key('string')],
      ['INCRBYFLOAT', r.key('string'), r.one('0.5', '1e2', '-2')],
      ['APPEND', r.key('string'), r.text()],
      ['STRLEN', r.key('string')],
      ['GETRANGE', r.key('string'), r.number(), r.number()],
      ['MGET', r.key('string'), r.key('string')],
      ['MSET', r.key('string'), r.text(), r.key('string'), r.text()],
      ['SETNX', r.key('string'), r.text()],
      ['GETDEL', r.key('string')],
      ['GETSET', r.key('string'), r.text()],
      ['GETEX', r.key('string'), ...r.maybe(r.one('PERSIST', 'FOO'))],
      ['SETEX', r.key('string'), r.one(90, 0, -1), r.text()],
      ['SET', r.key('string'), r.text(), 'EX', r.one('0', 'x', '90')],
    ),
  keys: (r) =>
    r.one<Command>(
      ['DEL', r.key('list')],
      ['EXISTS', r.key('hash'), r.key('string')],
      ['TYPE', r.key('stream')],
      ['PEXPIRE', r.key('hash'), r.one(90_000, -5), ...r.maybe(r.one('NX', 'XX', 'GT', 'LT'))],
      ['EXPIRE', r.key('zset'), 90],
      ['TTL', r.key('zset')],
      ['PERSIST', r.key('zset')],
      ['RENAME', r.key('set'), r.key('set')],
      ['RENAMENX', r.key('set'), r.key('set')],
      ['UNLINK', r.key('string'), r.key('set')],
      ['DBSIZE'],
      ['NOSUCH', 'x', 'y'],
      ['GET'],
      ['PING'],
      ['ECHO', r.text()],
    ),
  hashes: (r) =>
    r.one<Command>(
      ['HSET', r.key('hash'), r.text(), r.text(), r.text(), r.text()],
      ['HSET', r.key('hash'), r.text(), r.text(), r.text()],
      ['HMSET', r.key('hash'), r.text(), r.text()],
      ['HSETNX', r.key('hash'), r.text(), r.text()],
      ['HGET', r.key('hash'), r.text()],
      ['HMGET', r.key('hash'), r.text(), r.text()],
      ['HLEN', r.key('hash')],
      ['HEXISTS', r.key('hash'), r.text()],
      ['HDEL', r.key('hash'), r.text(), r.text()],
      ['HINCRBY', r.key('hash'), r.one('n', 'a'), r.number()],
      ['HINCRBYFLOAT', r.key('hash'), r.one('n', 'a'), '1.5'],
      ['HSTRLEN', r.key('hash'), r.text()],
      ['HGETALL', r.key('hash')],
      [
        'HSCAN',
        r.key('hash'),
        0,
        ...r.maybe('MATCH', r.one('*', 'a*', '[a-c]', '?')),
        ...r.maybe('COUNT', 1000),
      ],
    ),
  sets: (r) =>
    r.one<Command>(
      ['SADD', r.key('set'), r.text(), r.text()],
      ['SREM', r.key('set'), r.text()],
      ['SISMEMBER', r.key('set'), r.text()],
      ['SMISMEMBER', r.key('set'), r.text(), r.text()],
      ['SCARD', r.key('set')],
    ),
  lists: (r) =>
    r.one<Command>(
      ['LPUSH', r.key('list'), r.text(), r.text()],
      ['RPUSH', r.key('list'), r.text()],
      ['LPUSHX', r.key('list'), r.text()],
      ['RPUSHX', r.key('list'), r.text()],
      ['LPOP', r.key('list'), ...r.maybe(r.number())],
      ['RPOP', r.key('list')],
      ['LLEN', r.key('list')],
      ['LRANGE', r.key('list'), r.number(), r.number()],
      ['LINDEX', r.key('list'), r.number()],
      ['LSET', r.key('list'), r.number(), r.text()],
      ['LREM', r.key('list'), r.number(), r.text()],
      ['LTRIM', r.key('list'), r.one(0, 1, -10, -3), r.one(-1, 8, -2)],
      [
        'LPOS',
        r.key('list'),
        r.text(),
        ...r.maybe('RANK', r.one(1, -1, 2, -2)),
        ...r.maybe('COUNT', r.one(0, 2)),
      ],
      ['LINSERT', r.key('list'), r.one('BEFORE', 'AFTER', 'X'), r.text(), r.text()],
      ['RPOPLPUSH', r.key('list'), r.key('list')],
      ['LMOVE', r.key('list'), r.key('list'), r.one('LEFT', 'RIGHT'), r.one('LEFT', 'RIGHT')],
    ),
  'sorted sets': (r) =>
    r.one<Command>(
      ['ZADD', r.key('zset'), r.score(), r.text(), r.score(), r.text()],
      [
        'ZADD',
        r.key('zset'),
        ...r.maybe(r.one('NX', 'XX', 'GT', 'LT')),
        ...r.maybe('CH'),
        r.score(),
        r.text(),
      ],
      ['ZADD', r.key('zset'), 'INCR', r.one('1', '2.5', 'x'), r.text()],
      ['ZINCRBY', r.key('zset'), r.one('1', '-0.5'), r.text()],
      ['ZREM', r.key('zset'), r.text()],
      ['ZSCORE', r.key('zset'), r.text()],
      ['ZMSCORE', r.key('zset'), r.text(), r.text()],
      ['ZCARD', r.key('zset')],
      ['ZCOUNT', r.key('zset'), r.bound(), r.bound()],
      ['ZRANK', r.key('zset'), r.text()],
      ['ZREVRANK', r.key('zset'), r.text()],
      ['ZRANGE', r.key('zset'), r.number(), r.number(), ...r.maybe('REV'), ...r.maybe('WITHSCORES')],
      [
        'ZRANGE',
        r.key('zset'),
        r.bound(),
        r.bound(),
        'BYSCORE',
        ...r.maybe('REV'),
        ...r.maybe('LIMIT', 1, 2),
      ],
      ['ZREVRANGE', r.key('zset'), r.number(), r.number(), ...r.maybe('WITHSCORES')],
      [
        'ZRANGEBYSCORE',
        r.key('zset'),
        r.bound(),
        r.bound(),
        ...r.maybe('WITHSCORES'),
        ...r.maybe('LIMIT', 0, r.number()),
      ],
      ['ZREVRANGEBYSCORE', r.key('zset'), r.bound(), r.bound()],
      ['ZREMRANGEBYSCORE', r.key('zset'), r.bound(), r.bound()],
      ['ZREMRANGEBYRANK', r.key('zset'), r.number(), r.number()],
      ['ZPOPMIN', r.key('zset'), ...r.maybe(r.one(1, 2))],
      ['ZPOPMAX', r.key('zset')],
      ['ZADD', 'lex', 0, r.text(), 0, r.text()],
      ['ZRANGEBYLEX', 'lex', r.lexBound(), r.lexBound(), ...r.maybe('LIMIT', 1, 2)],
      ['ZREVRANGEBYLEX', 'lex', r.lexBound(), r.lexBound()],
      ['ZLEXCOUNT', 'lex', r.lexBound(), r.lexBound()],
      ['ZREMRANGEBYLEX', 'lex', r.lexBound(), r.lexBound()],
      ['ZSCAN', r.key('zset'), 0, ...r.maybe('MATCH', '*e*')],
    ),
  streams: (r) =>
    r.one<Command>(
      ['XADD', r.key('stream'), r.id(), r.text(), r.text()],
      ['XADD', r.key('stream'), `${r.below(40)}-*`, 'field', r.text().padEnd(r.below(900), 'x')],
      [
        'XADD',
        r.key('stream'),
        'MAXLEN',
        r.one('~', '='),
        r.one(0, 3, 120),
        `${20 + r.below(20)}-*`,
        'f',
        'v',
      ],
      ['XADD', r.key('stream'), 'NOMKSTREAM', 'MINID', '~', r.id(), `${r.below(60)}-*`, 'f', 'v', 'g', 'w'],
      ['XADD', r.key('stream'), '5-5', 'odd'],
      ['XLEN', r.key('stream')],
      ['XRANGE', r.key('stream'), r.one('-', r.id(), '(5'), r.one('+', r.id(), '(20')],
      ['XREVRANGE', r.key('stream'), '+', r.one('-', r.id()), ...r.maybe('COUNT', r.one(1, 3))],
      ['XDEL', r.key('stream'), r.id(), r.id()],
      ['XTRIM', r.key('stream'), r.one('MAXLEN', 'MINID'), r.one('~', '='), r.below(30)],
      [
        'XREAD',
        'COUNT',
        3,
        'STREAMS',
        r.key('stream'),
        r.key('stream'),
        r.one('0', r.id()),
        r.one('$', '0-1'),
      ],
    ),
};

/** Sends random commands to both and expects the same replies, and the same content afterwards. */
async function expectSame(random: Random, commandOf: (r: Random) => Command): Promise<void> {
  const sent = Array.from({ length: COMMANDS_PER_ROUND }, () => commandOf(random));
  const replies = await Promise.all(sent.map(([name, ...args]) => pair.ask(name, ...args)));
  const differing = replies.flatMap(([real, simulated], at) =>
    JSON.stringify(real) === JSON.stringify(simulated) ? [] : [{ command: sent[at], real, simulated }],
  );
  expect(JSON.stringify(differing[0])).toBeUndefined();
  const [real, simulated] = await pair.dump();
  expect(simulated).toEqual(real);
}

const SEEDS = Array.from({ length: ROUNDS }, (_, seed) => seed);

describe.each(Object.entries(COMMANDS))('random commands on %s are answered as by Redis', (_, commandOf) => {
  it.each(SEEDS)('(seed %d)', async (seed) => {
    await pair.empty();
    await expectSame(new Random(seed * 7919 + 17), commandOf);
  });

  it('that is full', async () => {
    await pair.empty();
    const random = new Random(4242);
    await expectSame(random, commandOf);
    await pair.setFull(true);
    await expectSame(random, commandOf);
    await pair.setFull(false);
  });

  it('that is a replica', async () => {
    await pair.empty();
    const random = new Random(2424);
    await expectSame(random, commandOf);
    await pair.setReadOnly(true);
    await expectSame(random, commandOf);
    await pair.setReadOnly(false);
  });
});

it.each(['setFull', 'setReadOnly'] as const)(
  'scripts and transactions are refused as by Redis (%s)',
  async (set) => {
    await pair.empty();
    await pair.ask('SET', 'a', 1);
    await pair[set](true);
    const commands: Command[] = [
      ['EVAL', `return redis.call('SET', 'b', 1)`, 0],
      ['EVAL', `return redis.pcall('SET', 'b', 1).err`, 0],
      ['EVAL', `redis.call('DEL', 'none') return redis.call('SET', 'b', 1)`, 0],
      ['EVAL', `redis.call('GET', 'a') return redis.call('HSET', 'h', 'b', 1)`, 0],
      ['EVAL', `return redis.call('GET', 'a')`, 0],
      ['MULTI'],
      ['SET', 'c', 1],
      ['EXEC'],
      ['MULTI'],
      ['GET', 'a'],
      ['EXEC'],
    ];
    for (const command of commands) {
      const [real, simulated] = await pair.ask(...command);
      expect([command, simulated]).toEqual([command, real]);
    }
    await pair[set](false);
  },
);

it('approximate trims drop the same entries as Redis', async () => {
  await pair.empty();
  const random = new Random(3);
  for (let at = 1; at <= 600; at++) {
    const text = 'x'.repeat(random.one(3, 40, 300, 1500));
    const fields = random.isTrue(0.8) ? ['entry', text] : ['other', text, 'more', at];
    const [real, simulated] = await pair.ask('XADD', 's', 'MAXLEN', '~', 150, `${at}-0`, ...fields);
    expect(simulated).toBe(real);
    const lengths = await pair.ask('XLEN', 's');
    expect([at, lengths[1]]).toEqual([at, lengths[0]]);
  }
});

it('the bytes of a stream are roughly those of Redis', async () => {
  await pair.empty();
  for (const length of [20, 200, 900]) {
    for (let at = 1; at <= 300; at++)
      await pair.ask('XADD', `s${length}`, `${1_700_000_000_000 + at}-0`, 'entry', 'x'.repeat(length));
    const [real, simulated] = await pair.ask('MEMORY', 'USAGE', `s${length}`, 'SAMPLES', 0);
    const ratio = Number(simulated) / Number(real);
    expect([length, ratio > 0.9 && ratio < 1.1, ratio]).toEqual([length, true, ratio]);
  }
});

it('transactions are answered as by Redis', async () => {
  await pair.empty();
  const sequences: Command[][] = [
    [['MULTI'], ['SET', 'a', 1], ['LPUSH', 'a', 1], ['INCR', 'a'], ['EXEC']],
    [['MULTI'], ['NOSUCH'], ['SET', 'b', 1], ['EXEC']],
    [['MULTI'], ['SET', 'c', 1], ['DISCARD'], ['GET', 'c'], ['EXEC'], ['DISCARD']],
    [['MULTI'], ['MULTI'], ['EVAL', 'return redis.call("GET", "a")', 0], ['BZPOPMIN', 'z', 0], ['EXEC']],
  ];
  for (const command of sequences.flat()) {
    const [real, simulated] = await pair.ask(...command);
    expect([command, simulated]).toEqual([command, real]);
  }
});
