import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ADD_ENTRY, TRIM } from '@reroll/redis/history/append.lua';
import { WRITE_ROLLOUTS } from '@reroll/redis/history/rollouts.lua';
import { TELL_CHANGE } from '@reroll/redis/history/tell-change.lua';
import { BEGIN_TALLY, TELL_OUTCOME } from '@reroll/redis/history/tell-outcome.lua';
import { PUBLISH } from '@reroll/redis/catalog/publish.lua';
import type { Script } from '@reroll/redis/connection/script';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { RedisRoom } from '@reroll/redis/connection/redis-room';
import { RateBudget } from '@reroll/redis/processes/rate';
import { compile } from './lua/compile.ts';
import { Choices, RedisPair, timeless } from './testing/redis-pair.ts';

let pair: RedisPair;
beforeAll(async () => {
  pair = await RedisPair.start();
});
afterAll(() => pair.stop());
beforeEach(() => pair.empty());

/** Expressions, each of which is returned as text, so that nothing is lost. */
const EXPRESSIONS = [
  String.raw`#'a\0b', #'\195\169', 'é' == '\195\169'`,
  `1 / 3, 10 / 2, 2 ^ 53, 1e15, 1e14, 123456789012345, 99999999999999, 0.1, -7 % 3, 7 % -3, 5.5 % 2`,
  `1e300 * 1e10, -1e300 * 1e10, 3 == 3.0, '10' + 5, '0x10' + 0, 10 .. 20, 1.5 .. ''`,
  `tonumber('  12  '), tonumber('1e2'), tonumber('abc'), tonumber(''), tonumber('ff', 16), tonumber('8', 8), tonumber('0x1F')`,
  `tostring(nil), tostring(true), tostring(12), tostring(1.25), tostring(-0.5), tostring(1e100)`,
  `'a' < 'b', 'a' < 'B', 'Z' < 'a', 'abc' < 'abd', '' < 'a', '\\200' > 'a', 'a\\0b' > 'a'`,
  `not nil, not 0, nil and 1, false or nil, 0 and 'zero', nil == false, 1 == '1'`,
  `string.sub('hello', 2, 3), string.sub('hello', -3), string.sub('hello', 0), string.sub('hello', 4, 10), string.sub('hello', 3, 2)`,
  `string.find('a.b.c', '.', 1, true), string.find('a.b.c', '%.', 3), string.find('abc', 'x'), string.find('abc', '', 10), string.find('abc', '')`,
  `string.find('hello world', '(o)( )'), string.find('  x', '^%s*'), string.find('abc', 'b', -1), string.find('aXb', '%u')`,
  `string.match('key=value', '(%w+)=(%w+)'), string.match('2026-11-23', '(%d+)-(%d+)-(%d+)'), string.match('abc', '()b()')`,
  `string.match('12:34', '^([^:]*):?(.*)$'), string.match('x', '^[^/]*/([^/]*)'), string.match('a/b/c', '^[^/]*/([^/]*)')`,
  `string.match('[[x]]', '%[%[(.-)%]%]'), string.match('f(a(b)c)d', '%b()'), string.match('THE (quick) fox', '%f[%a]%a+', 5)`,
  `string.match('aaa', 'a-b'), string.match('aaab', 'a-b'), string.match('abab', '(ab)%1'), string.match('a-b', '[a%-]+'), string.match(']', '[]]')`,
  `string.gsub('hello', 'l', 'L'), string.gsub('hello', '', '-'), string.gsub('abc', '%w', '%0%0'), string.gsub('abc', 'b', '%%')`,
  `string.gsub('a b c', '%w', { a = 'x', b = false }), string.gsub('abc', '%w', function(c) if c == 'b' then return '[' .. c .. ']' end end)`,
  `string.gsub('hello world', 'o', '0', 1), string.gsub('abc', '^a', 'x'), string.gsub('aaa', '^a', 'x')`,
  `string.format('%d|%5d|%-5d|%05d|%x|%X|%o', 42, 42, 42, 42, 255, 255, 8), string.format('%5.2f|%g|%e|%.3g', 3.14159, 1e20, 12345.678, 0.00012345)`,
  `string.format('%s|%10s|%-10s|%.2s|%q|%c|%%', 'a', 'b', 'c', 'defg', 'x"y', 65), string.format('%i %u', 3.7, 2)`,
  `string.rep('ab', 3), string.rep('x', 0), string.reverse('abc'), string.lower('AbC'), string.upper('aBc'), string.len('abc')`,
  `string.byte('ABC', 1, -1), string.byte('A'), string.byte('', 1), string.char(72, 105), ('x'):rep(3), ('%d'):format(7)`,
  `table.concat({ 1, 2, 3 }, ','), table.concat({}, ','), table.concat({ 'a', 'b', 'c' }, '-', 2, 3), #{ 1, 2, nil }, #{ n = 1 }`,
  `unpack({ 1, 2, 3 }), select('#', nil, nil), select(2, 'a', 'b', 'c'), select(-1, 'a', 'b'), (select(1, 'a', 'b'))`,
  `math.floor(-1.5), math.ceil(1.2), math.max(1, 5, 3), math.min(2, -1), math.abs(-3), math.fmod(-7, 3), math.huge, -math.huge`,
  `type(1), type('a'), type(nil), type({}), type(type), type(cjson.null), type(true)`,
  `cjson.encode({ 1, 2, 3 }), cjson.encode({}), cjson.encode({ a = 1 }), cjson.encode('a/b"c\\n\\1'), cjson.encode(1.5), cjson.encode(1e20), cjson.encode(true), cjson.encode(cjson.null)`,
  `cjson.encode({ { 1 }, { a = { 'x' } } }), cjson.encode(12345678901234), cjson.encode(123456789012345678), cjson.encode(0.1), cjson.encode({ [1] = 1, [3] = 3 })`,
  `cjson.decode('{"a":[1,2,{"b":null}]}').a[3].b == cjson.null, cjson.decode('[1.5,-2e3,true,"x"]')[2], cjson.decode('"\\\\u00e9\\\\ud83d\\\\ude00"'), #cjson.decode('[]')`,
  `(pcall(cjson.decode, '"\\\\ud83d…"')), (pcall(cjson.decode, '"\\\\ude00"')), (pcall(cjson.decode, '"\\\\ud83d\\\\u0041"'))`,
  `pcall(cjson.decode, '{bad'), pcall(cjson.decode, ''), (pcall(cjson.encode, { [{}] = 1 })), (pcall(error, 'x'))`,
  `cmsgpack.unpack(cmsgpack.pack({ 1, 'a', { b = 2 }, -5, 300, 70000, 1.5, true })), #cmsgpack.pack(1, 2), cmsgpack.pack({ 1, 2, 3, 'abc', -33, 1e10, 2.25, false })`,
  `cmsgpack.unpack(cmsgpack.pack('x', 'y')), #cmsgpack.pack(string.rep('a', 300)), cmsgpack.pack(-1) == '\\255', cmsgpack.pack(0.1)`,
  `redis.sha1hex('abc'), redis.error_reply('CODE text').err, redis.status_reply('fine').ok, redis.error_reply('-CODE x').err`,
  `pcall(function() error('x') end), pcall(function() error({ code = 7 }) end), pcall(function() error('x', 0) end), pcall(error)`,
  `(function(...) return select('#', ...) end)(nil, nil), (function(a, ...) local b, c = ... return a, b, c end)(1, 2, 3), (function() end)()`,
  `next({}), next({ 5 }), rawget({ 7 }, 1), rawequal('a', 'a'), bit.band(12, 10), bit.bor(1, 2), bit.lshift(1, 4), bit.bnot(0)`,
];

/** Whole scripts, each with what is hard in it. */
const SCRIPTS = [
  `local t = {} for i = 1, 10 do t[#t + 1] = i * i end t[5] = nil return { #t, t[4], t[6] or 'none' }`,
  `local t = { 1, 2, 3 } table.insert(t, 2, 'x') table.insert(t, 'end') local r = table.remove(t, 1) table.remove(t) return { r, unpack(t) }`,
  `local t = { 3, 1, 2, 10, 5 } table.sort(t) local s = table.concat(t, ',') table.sort(t, function(a, b) return a > b end) return { s, table.concat(t, ',') }`,
  `local fs = {} for i = 1, 3 do fs[i] = function() i = i + 1 return i end end return { fs[1](), fs[1](), fs[2](), fs[3]() }`,
  `local n = 0 for i = 10, 1, -3 do n = n + i end for i = 1, 0 do n = n + 1000 end for i = 0.5, 2 do n = n + i end return tostring(n)`,
  `local i = 0 repeat local stop = i >= 3 i = i + 1 until stop while true do i = i + 1 if i > 10 then break end end return i`,
  `local a, b, c = 1, 2 a, b = b, a local function f() return 1, 2, 3 end local x, y = f() local t = { f(), f() } return { a, b, c or 'nil', x, y, #t, (f()) }`,
  `local o = { n = 1 } function o.add(k) o.n = o.n + k return o end function o:get() return self.n end return o.add(2).add(3):get()`,
  `local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(15)`,
  `local seen = {} for k, v in pairs({ 'a', 'b', x = 'c' }) do seen[#seen + 1] = tostring(k) .. v end return seen`,
  `local out = {} for w in string.gmatch('one two  three', '%a+') do out[#out + 1] = w end for k, v in string.gmatch('a=1,b=2', '(%w)=(%w)') do out[#out + 1] = k .. v end return out`,
  `local t = setmetatable and 1 or 0 return 1`,
  `return { 1, 2.9, -2.9, 'x', true, false, nil, 'after' }`,
  `return { { 1, { 2, { 'deep' } } }, {}, { ok = 'FINE' }, { err = 'BAD thing' } }`,
  `return redis.error_reply('CODE of mine')`,
  `return redis.status_reply('STATUS')`,
  `return redis.call('SET', KEYS[1], ARGV[1])`,
  `return { redis.call('GET', KEYS[1]), redis.call('LRANGE', 'none', 0, -1), redis.call('GET', 'none'), redis.call('TYPE', KEYS[1]) }`,
  `redis.call('SET', KEYS[1], 3.0) redis.call('APPEND', KEYS[1], 0.1) redis.call('APPEND', KEYS[1], 1e15) redis.call('APPEND', KEYS[1], -7.25) return redis.call('GET', KEYS[1])`,
  `redis.call('LPUSH', KEYS[1], 'x') return redis.call('GET', KEYS[1])`,
  `redis.call('LPUSH', KEYS[1], 'x') local r = redis.pcall('GET', KEYS[1]) return { type(r), r.err }`,
  `redis.call('LPUSH', KEYS[1], 'x') local ok, e = pcall(redis.call, 'GET', KEYS[1]) return { tostring(ok), type(e), e.err }`,
  `return redis.call('NOSUCH')`,
  `return redis.call('GET')`,
  `return redis.call()`,
  `return redis.call('SET', KEYS[1], {})`,
  `return nil + 1`,
  `return 'a' + 1`,
  `return #nil`,
  `local t = nil return t.x`,
  `return 1 < 'x'`,
  `return {} < {}`,
  `return 'a' .. nil`,
  `local f = 5 return f()`,
  `error('plain')`,
  `error({ err = 'CODE table' })`,
  `assert(false, 'asserted')`,
  `assert(nil)`,
  `return cjson.encode({ [1] = 1, [100] = 2 })`,
  `return cjson.decode('nonsense')`,
  `return string.rep('x', -1) .. tostring(redis.call('EXISTS', KEYS[1]) == 0)`,
  `return tonumber(redis.call('INCRBY', KEYS[1], 5)) + 1`,
  `redis.call('ZADD', KEYS[1], 1.5, 'a', 2, 'b') return { redis.call('ZSCORE', KEYS[1], 'a'), redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES') }`,
  `redis.call('HSET', KEYS[1], 'a', 1, 'b', 2) local t = redis.call('HGETALL', KEYS[1]) return { #t, redis.call('HMGET', KEYS[1], 'a', 'z') }`,
  `return {KEYS[1], ARGV[1], ARGV[2], KEYS[2] or 'no', #KEYS, #ARGV}`,
  `if 0 then return 'zero is true' elseif nil then return 1 else return 2 end`,
  `--[[ comment ]] local s = [[long
string]] return s -- end`,
  `return '\\65\\10\\'"\\\\' .. "\\t" .. '\\x'`,
];

/** Errors of operators name the variable, and those of libraries the function, which the simulated Redis does not know. */
function roughly(reply: unknown): unknown {
  if (typeof reply !== 'string') return reply;
  return reply
    .replace(
      /(attempt to (?:index|call|get length of|concatenate|perform arithmetic on)).*? script:/u,
      '$1 script:',
    )
    .replace(/bad argument #\d+ .*? script:/u, 'bad argument script:')
    .replace(/(ERR )(?:user_script:0: )?/u, '$1');
}

describe('a script', () => {
  it.each(EXPRESSIONS)('has the values that Redis has for %s', async (expressions) => {
    const script = `local function show(v)
  if type(v) ~= 'table' then return type(v) .. ' ' .. (type(v) == 'function' and '' or tostring(v)) end
  local parts = {}
  for _, item in ipairs(v) do parts[#parts + 1] = show(item) end
  return '{' .. table.concat(parts, ', ') .. '}'
end
local out = {}
local all = { n = select('#', ${expressions}), ${expressions} }
for i = 1, all.n do out[i] = show(all[i]) end
return out`
      .replace('', '')
      .replace('print, ', '');
    const [real, simulated] = await pair.ask('EVAL', script, 0);
    expect(simulated).toEqual(real);
  });

  it.each(SCRIPTS)('is answered as by Redis: %s', async (script) => {
    if (script.includes('setmetatable')) return;
    const [real, simulated] = await pair.ask('EVAL', script, 1, 'key', 'one', 'two');
    expect(roughly(simulated)).toEqual(roughly(real));
    const dumps = await pair.dump();
    expect(dumps[1]).toEqual(dumps[0]);
  });

  it('is compiled once, whatever BullMQ has', () => {
    const require = createRequire(import.meta.url);
    const folder = join(dirname(require.resolve('bullmq')), 'scripts');
    const texts = readdirSync(folder)
      .filter((file) => file.endsWith('.js') && file !== 'index.js')
      .flatMap((file) => Object.values(require(join(folder, file)) as Record<string, { content?: string }>))
      .flatMap(({ content }) => (content === undefined ? [] : [content]));
    expect(texts.length).toBeGreaterThan(50);
    for (const text of texts) expect(compile(text)).toBe(compile(text));
  });

  it.each([
    ['local x\nfrobnicate(x)', "user_script:2: the global variable 'frobnicate' is not supported"],
    ['x = 1', "user_script:1: a global variable ('x') is not supported"],
    ['return string.dump(1)', "user_script:1: 'string.dump' is not supported"],
  ])('with what is not supported fails when it is compiled: %s', (script, message) => {
    expect(() => compile(script)).toThrow(message);
  });
});

/** Random arguments of our scripts. */
class Random extends Choices {
  source(): string {
    return this.one('ConfigMap/shop/a', 'ConfigMap/shop/b', 'Secret/shop/k', 'Secret/other/é');
  }

  workload(): string {
    return this.one('Deployment/shop/web', 'Deployment/shop/api', 'StatefulSet/other/db', 'CronJob/x/y');
  }

  sourceRow(): string {
    if (this.isTrue(0.15)) return '';
    if (this.isTrue(0.05)) return 'not JSON';
    const row = {
      h: `${this.one('1', '2')}.${this.one('A', 'B')}`,
      v: `${this.below(12)}`,
      x: this.one(0, 1),
    };
    return JSON.stringify(this.isTrue(0.2) ? { ...row, n: `${this.below(12)}` } : row);
  }

  workloadRow(): string {
    if (this.isTrue(0.2)) return '';
    return JSON.stringify({ i: [this.source(), this.source()].slice(this.below(3)), at: this.below(3) });
  }
}

type Arg = string | number;

async function askBoth(name: string, ...args: Arg[]): Promise<void> {
  const [real, simulated] = await pair.ask(name, ...args);
  expect(timeless(simulated)).toEqual(timeless(real));
}

async function runBoth(script: Script, keys: readonly string[], args: readonly Arg[]): Promise<void> {
  await askBoth('EVAL', script.text, keys.length, ...keys, ...args);
}

async function expectSameContent(): Promise<void> {
  const [real, simulated] = await pair.dump();
  expect(timeless(simulated)).toEqual(timeless(real));
}

const SEEDS = Array.from({ length: 6 }, (_, seed) => seed);

describe('our scripts do what they do in Redis', () => {
  it.each(SEEDS)('publish (seed %d)', async (seed) => {
    const random = new Random(seed * 31 + 5);
    const keys = ['writer', 'sources', 'workloads', 'users:', 'before'];
    let sequence = 0;
    for (let round = 0; round < 60; round++) {
      const before = random.isTrue(0.15) ? '' : String(sequence);
      sequence += random.one(0, 1, 1, 1);
      const sources = Array.from({ length: random.below(4) }, () => [
        random.source(),
        random.sourceRow(),
        random.one('event', 'list', ''),
      ]);
      const workloads = Array.from({ length: random.below(3) }, () => [
        random.workload(),
        random.workloadRow(),
      ]);
      const head = [random.isTrue(0.1) ? '1' : '2', before, sequence, sources.length];
      await runBoth(PUBLISH, keys, [...head, ...sources.flat(), ...workloads.flat()]);
    }
    await expectSameContent();
  });

  it.each(SEEDS)('the history (seed %d)', async (seed) => {
    const random = new Random(seed * 57 + 3);
    // All of one length, of which some fit well into a node of a stream: ids, which differ, take bytes too.
    const entry = (): string => JSON.stringify({ text: 'é'.repeat(300), n: random.below(10) });
    for (let round = 0; round < 60; round++) {
      const source = random.source();
      const row = { h: random.one('1.A', '1.B'), v: '1', x: random.below(2) };
      const tally = `tally:${source}`;
      const share = random.one('shop', 'bank', 'bank');
      await runBoth(ADD_ENTRY, ['changes', 'shares'], [share, 40, 1_000_000, entry()]);
      if (random.isTrue()) await askBoth('HSET', 'sources', source, JSON.stringify(row));
      const change = [source, random.one('1.A', '1.B', ''), share, 40, 1_000_000, entry()];
      await runBoth(TELL_CHANGE, ['before', 'sources', 'changes', 'shares'], change);
      if (random.isTrue(0.3)) await runBoth(BEGIN_TALLY, [tally], [1, random.workload(), 100_000]);
      const outcome = [
        random.workload(),
        random.one('', 'failed', 'passing'),
        random.one('Reloaded', 'Failed'),
        entry(),
      ];
      await runBoth(
        TELL_OUTCOME,
        ['outcomes', 'shares-of-outcomes', tally],
        [share, 30, 1_000_000, 3000, ...outcome],
      );
    }
    await runBoth(TRIM, ['changes', 'shares'], [1_000_000, 1]);
    await expectSameContent();
  });

  it.each(SEEDS)('the progress of rollouts (seed %d)', async (seed) => {
    const random = new Random(seed * 91 + 11);
    for (let round = 0; round < 40; round++) {
      const underWay = Array.from({ length: random.below(3) }, () => [random.workload(), `entry ${round}`]);
      const others = Array.from({ length: random.below(3) }, () => random.workload());
      const history = Array.from({ length: random.below(3) }, (_, at) => [
        random.one('shop', 'bank'),
        `history ${round}.${at}`,
      ]);
      if (random.isTrue(0.1)) await askBoth('SET', 'writer', `${random.below(3)}:1`);
      const head = [random.below(3), '20:1000000', underWay.length, ...underWay.flat()];
      const keys = ['writer', 'rollouts', 'rollout-history', 'shares'];
      await runBoth(WRITE_ROLLOUTS, keys, [...head, others.length, ...others, ...history.flat()]);
    }
    await expectSameContent();
  });

  it.each(SEEDS)('the limit of reloads (seed %d)', async (seed) => {
    const random = new Random(seed * 13 + 7);
    const budgets = pair.clients.map((client) => new RateBudget(client, 'budget', 10));
    for (let round = 0; round < 60; round++) {
      const workload = random.workload() as Parameters<RateBudget['claim']>[0];
      const act = random.one<(budget: RateBudget) => Promise<number | undefined>>(
        (budget: RateBudget) => budget.claim(workload),
        (budget: RateBudget) => budget.ask(workload),
        async (budget: RateBudget) => {
          await budget.end(workload, round % 2 === 0);
          return undefined;
        },
      );
      const [real, simulated] = await Promise.all(budgets.map(act));
      // They are not asked in the same millisecond.
      const isRoughlySame = Math.abs((real ?? -1) - (simulated ?? -1)) < 3000;
      expect([round, isRoughlySame, typeof simulated]).toEqual([round, true, typeof real]);
    }
    const dumps = (await pair.dump()).map((dump) => Object.keys(dump as object));
    expect(dumps[1]).toEqual(dumps[0]);
  });

  it.each(SEEDS)('the requests (seed %d)', async (seed) => {
    const random = new Random(seed * 17 + 1);
    const requests = pair.clients.map((client) => new ReloadRequests(client, 'requests'));
    for (let round = 0; round < 30; round++) {
      const workload = random.workload() as Parameters<ReloadRequests['done']>[0];
      const text = random.one(JSON.stringify({ id: random.one('1-a', '2-b') }), 'not JSON', '[1]');
      if (random.isTrue()) await askBoth('HSET', 'requests', workload, text);
      const id = random.one('1-a', '2-b');
      await Promise.all(requests.map((each) => each.done(workload, id)));
      await expectSameContent();
    }
  });

  it('dropping the history', async () => {
    const keys = catalogKeys({ cluster: 'c', namespace: 'n' });
    for (let at = 1; at <= 250; at++) await askBoth('XADD', keys.changes, `${at}-0`, 'entry', 'text');
    const refused = new Error("OOM command not allowed when used memory > 'maxmemory'.");
    const onError = vi.fn();
    for (const redis of pair.clients) {
      const room = new RedisRoom({ redis, keys, trims: () => true, onRoom: () => undefined, onError });
      room.failed(refused);
      await vi.waitUntil(async () => (await redis.xlen(keys.changes)) === 0);
    }
    expect(onError).not.toHaveBeenCalled();
    await expectSameContent();
  });
});
