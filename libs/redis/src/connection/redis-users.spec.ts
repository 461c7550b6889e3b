import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { beforeAll, describe, expect, it } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { documentedRules, REDIS_USERS } from '../testing/redis-users.ts';
import { changed, reloaded, rollout } from '@reroll/core/testing/history';
import { Catalog } from '../catalog/catalog.ts';
import { History, HISTORY_STREAMS } from '../history/history.ts';
import { RolloutWriter } from '../history/rollout-writer.ts';
import { Processes } from '../processes/processes.ts';
import type { CatalogKeys } from '../catalog/keys.ts';

type Component = keyof typeof REDIS_USERS;

const COMPONENTS = Object.keys(REDIS_USERS) as Component[];
const KEDA = 'reroll-keda';
const PASSWORD = 'secret';

const redis = useRealRedis();
let keys: CatalogKeys;

beforeAll(async () => {
  keys = redis.freshKeys();
  for (const user of [...Object.values(REDIS_USERS), 'reroll', KEDA])
    await redis.client.acl('SETUSER', user, 'on', `>${PASSWORD}`, ...documentedRules(user));
});

async function connectAs(user: string): Promise<Redis> {
  const client = redis.connect();
  await client.auth(user, PASSWORD);
  return client;
}

type Command = readonly [string, ...string[]];

async function isAllowed(user: string, [name, ...args]: Command): Promise<boolean> {
  return (await redis.client.acl('DRYRUN', user, name, ...args)) === 'OK';
}

/** Who may change a key in any of these ways. To shorten a stream is no such change: see below. */
async function writersOf(key: string): Promise<Component[]> {
  const commands: readonly Command[] = [
    ['SET', key, '1'],
    ['DEL', key],
    ['RENAME', key, key],
    ['HSET', key, 'field', '1'],
    ['HDEL', key, 'field'],
    ['SADD', key, 'member'],
    ['SREM', key, 'member'],
    ['ZADD', key, '1', 'member'],
    ['RPUSH', key, '1'],
    ['LPOP', key],
    ['XADD', key, '*', 'field', '1'],
    ['XDEL', key, '1-0'],
    ['EXPIRE', key, '1'],
    ['PERSIST', key],
    ['RESTORE', key, '0', 'text'],
    ['COPY', key, key],
  ];
  const writes = async (component: Component): Promise<boolean> => {
    const user = REDIS_USERS[component];
    const answers = await Promise.all(commands.map((command) => isAllowed(user, command)));
    return answers.includes(true);
  };
  const each = await Promise.all(COMPONENTS.map(writes));
  return COMPONENTS.filter((_, index) => each[index]);
}

/** Every key that there is, and who writes it. */
const WRITERS: Readonly<Record<Exclude<keyof CatalogKeys, 'prefix'>, readonly Component[]>> = {
  cluster: ['watcher', 'worker', 'admin'],
  writer: ['watcher'],
  sources: ['watcher'],
  workloads: ['watcher'],
  users: ['watcher'],
  readings: ['watcher', 'worker'],
  backingOff: ['worker'],
  budget: ['worker'],
  pretended: ['watcher', 'worker'],
  warned: ['worker'],
  alerts: ['worker'],
  announced: ['worker'],
  before: ['watcher', 'worker'],
  tallies: ['worker'],
  rollouts: ['watcher'],
  slots: ['watcher', 'worker'],
  slotRequests: ['watcher', 'worker'],
  processes: ['watcher', 'worker', 'admin'],
  requests: ['worker', 'admin'],
  limits: ['admin'],
  idempotency: ['admin'],
  idempotencyOf: ['admin'],
  shownHashKey: ['admin'],
  changes: ['worker', 'admin'],
  outcomes: ['worker'],
  rolloutHistory: ['watcher'],
  audit: ['admin'],
  shares: ['watcher', 'worker', 'admin'],
};

/** A key of that name, or one of those that begin with it. */
function keyOf(name: keyof CatalogKeys): string {
  const key = keys[name];
  return key.endsWith(':') ? `${key}ConfigMap/shop/settings` : key;
}

describe('of the users of the guide', () => {
  it.each(Object.entries(WRITERS))('%s is written by %j and nobody else', async (name, writers) => {
    expect(await writersOf(keyOf(name as keyof CatalogKeys))).toEqual(writers);
  });

  it.each([
    ['changes', ['watcher', 'worker', 'admin']],
    ['reloads', ['watcher', 'worker', 'admin']],
    ['resumes', ['watcher', 'worker', 'admin']],
    ['notifications', ['worker', 'admin']],
  ])('the queue %s is written by %j', async (queue, writers) => {
    for (const key of ['wait', 'delayed', '1', 'de:Deployment/shop/web'])
      expect(await writersOf(`${keys.prefix}:${queue}:${key}`)).toEqual(writers);
  });

  it.each(COMPONENTS)('%s reads every key, and none that is not of Reroll', async (component) => {
    const user = REDIS_USERS[component];
    const names = Object.keys(WRITERS) as (keyof CatalogKeys)[];
    const answers = await Promise.all(names.map((name) => isAllowed(user, ['HGET', keyOf(name), 'field'])));
    expect(answers).not.toContain(false);
    expect(await isAllowed(user, ['GET', 'other'])).toBe(false);
    expect(await isAllowed(user, ['SET', 'other', '1'])).toBe(false);
  });

  it.each(COMPONENTS)('%s may shorten streams of the history, and begin none', async (component) => {
    const user = REDIS_USERS[component];
    for (const key of [keys.changes, keys.outcomes, keys.rolloutHistory, keys.audit])
      expect(await isAllowed(user, ['XTRIM', key, 'MAXLEN', '0'])).toBe(true);
    expect(await isAllowed(user, ['XADD', `${keys.prefix}:v1:history:other`, '*', 'f', '1'])).toBe(false);
  });
});

/** Whatever shows names of others, changes what all users share, or reaches keys and channels of others. */
const REFUSED: readonly Command[] = [
  ['FUNCTION', 'FLUSH'],
  ['FUNCTION', 'LOAD', "#!lua name=l\nredis.register_function('f', function() end)"],
  ['FUNCTION', 'LIST'],
  ['FCALL', 'f', '0'],
  ['SCRIPT', 'FLUSH'],
  ['CLIENT', 'TRACKING', 'ON', 'BCAST'],
  ['CLIENT', 'LIST'],
  ['CLIENT', 'KILL', 'TYPE', 'normal'],
  ['KEYS', '*'],
  ['SCAN', '0'],
  ['RANDOMKEY'],
  ['GET', 'other'],
  ['SET', 'other', '1'],
  ['COPY', '{reroll:a:b}:c', 'other'],
  ['PUBLISH', 'channel', 'message'],
  ['SUBSCRIBE', 'channel'],
  ['FLUSHALL'],
  ['FLUSHDB'],
  ['SWAPDB', '0', '1'],
  ['CONFIG', 'GET', '*'],
  ['ACL', 'LIST'],
  ['MONITOR'],
];

it.each([...Object.values(REDIS_USERS), 'reroll'])('%s may do nothing to others', async (user) => {
  const answers = await Promise.all(REFUSED.map((command) => isAllowed(user, command)));
  expect(REFUSED.filter((_command, index) => answers[index])).toEqual([]);
});

const AUDITED = {
  at: 1,
  actor: 'ann',
  action: 'reload',
  target: 'Deployment/shop/web',
  reason: '',
  result: 'done',
  requestId: 'r',
} as const;
const ROW = { rv: '1', hash: 'h', exists: true };

describe('a script has the rights of who runs it', () => {
  it.each([
    ['worker', 'refused'],
    ['admin', 'refused'],
    ['watcher', 'done'],
  ] as const)('rows that %s publishes: %s', async (component, expected) => {
    const catalog = new Catalog(await connectAs(REDIS_USERS[component]), redis.freshKeys());
    const writer = { term: '1', sequence: 0 };
    const published = catalog.publish({
      writer,
      sources: [['ConfigMap/shop/settings', ROW as never]],
      workloads: [],
    });
    const answer = await published.then(
      () => 'done',
      (error: Error) => (/can't access at least one of the keys/u.test(error.message) ? 'refused' : error),
    );
    expect(answer).toBe(expected);
    expect(await redis.client.exists(catalog.keys.sources, catalog.keys.writer)).toBe(
      expected === 'done' ? 2 : 0,
    );
  });

  it('each writes its streams of the history also if they are full', async () => {
    const own = redis.freshKeys();
    const limits = { maxEntries: 2, maxAge: 60_000, maxBytes: 33_554_432 };
    const of = async (component: Component): Promise<History> =>
      new History(await connectAs(REDIS_USERS[component]), own, limits);
    const [worker, admin] = [await of('worker'), await of('admin')];
    const rollouts = new RolloutWriter(await connectAs(REDIS_USERS.watcher), own, limits);
    for (let since = 1; since <= 4; since += 1) {
      await worker.addChange(changed(since));
      await worker.addOutcome(reloaded(since));
      await admin.addManual(changed(since, { source: null }));
      await admin.addAudit(AUDITED);
      await rollouts.write('1', { put: [], removed: [], ended: [rollout(since)] });
    }
    await worker.trim(Date.now());
    expect(await Promise.all(HISTORY_STREAMS.map((stream) => worker.count(stream)))).toEqual([2, 2, 2, 2]);
  });

  it.each(COMPONENTS)('%s reads rows', async (component) => {
    const catalog = new Catalog(await connectAs(REDIS_USERS[component]), redis.freshKeys());
    expect(await catalog.workloads(['Deployment/shop/web'])).toEqual(new Map());
    expect(await catalog.eachWorkload(() => true).next()).toEqual({ done: false, value: [] });
  });

  it('admin can declare any key of Reroll to a script, and read it there, but not write it', async () => {
    const admin = await connectAs(REDIS_USERS.admin);
    const run = (script: string): Promise<unknown> => admin.eval(script, 1, keys.sources);
    expect(await run(`return redis.call('HGET', KEYS[1], 'a')`)).toBeNull();
    await expect(run(`return redis.call('HSET', KEYS[1], 'a', 'b')`)).rejects.toThrow(/can't access/u);
  });

  it.each(COMPONENTS)('%s sends its heartbeat, which also asks for the rights to its queues', async (app) => {
    const processes = new Processes(await connectAs(REDIS_USERS[app]), keys);
    await processes.write(app, { app, name: app, version: '1', startedAt: 1 });
    expect(await processes.all()).toContainEqual(expect.objectContaining({ id: app }));
  });

  it('KEDA counts the jobs that wait, as its scaler does, and reads none', async () => {
    const keda = await connectAs(KEDA);
    const list = `${keys.prefix}:reloads:wait`;
    await redis.client.rpush(list, '1', '2');
    const length = `
      local listType = redis.call('type', KEYS[1]).ok
      return redis.call(({ zset = 'zcard', list = 'llen' })[listType], KEYS[1])`;
    expect(await keda.eval(length, 1, list)).toBe(2);
    await expect(keda.lrange(list, 0, -1)).rejects.toThrow('NOPERM');
    await expect(keda.eval(`return redis.call('lpop', KEYS[1])`, 1, list)).rejects.toThrow(/can't run/u);
  });
});

/** BullMQ's scripts that each component runs, by the beginnings of their names. */
const SCRIPTS: Readonly<Record<Component, RegExp>> = {
  watcher: /^(?:add(?:Delayed|Prioritized|Standard)Job|get)/u,
  worker:
    /^(?:add(?:Delayed|Prioritized|Standard)Job|get|changePriority|extendLock|isFinished|isMaxed|move(?:JobFromActive|StalledJobs|ToActive|ToDelayed|ToFinished)|promote|releaseLock|removeDeduplicationKey|retryJob|saveStacktrace)/u,
  admin:
    /^(?:add(?:Delayed|Prioritized|Standard)Job|get|changePriority|moveJobsToWait|pause|promote|reprocessJob)/u,
};

/** Commands that a script of BullMQ calls. */
function commandsOf(scripts: RegExp): string[] {
  const folder = join(dirname(fileURLToPath(import.meta.resolve('bullmq'))), 'scripts');
  const files = readdirSync(folder).filter((file) => file.endsWith('.js') && scripts.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const calls = texts.flatMap((text) => [...text.matchAll(/\br?call\(\s*["'](\w+)["']/gu)]);
  return [...new Set(calls.map(([, command = '']) => command.toLowerCase()))].sort();
}

it.each(COMPONENTS)('%s may run every command of the scripts of BullMQ that it uses', async (component) => {
  const commands = commandsOf(SCRIPTS[component]);
  expect(commands).toContain('zadd');
  const key = `${keys.prefix}:reloads:wait`;
  // As many arguments as the longest has: the rights are looked at before the number of arguments is.
  const refused = await Promise.all(
    commands.map(async (name) => {
      const info = (await redis.client.command('INFO', name)) as [[string, number]];
      const given = Math.max(Math.abs(info[0][1]) - 1, 1);
      const args = Array.from({ length: given }, (_, index) => (index < 2 ? key : '1'));
      return (await isAllowed(REDIS_USERS[component], [name, ...args])) ? [] : [name];
    }),
  );
  expect(refused.flat()).toEqual([]);
});
