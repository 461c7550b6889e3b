import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reloaded } from '@reroll/core/testing/history';
import { Queues, RELOADS } from '../queue/queues.ts';
import { useRealRedis } from '../testing/real-redis.ts';
import { Catalog } from '../catalog/catalog.ts';
import { History } from '../history/history.ts';
import type { CatalogKeys } from '../catalog/keys.ts';
import { isOutOfMemory, RedisRoom } from './redis-room.ts';

const MIB = 1_048_576;
const LIMITS = { maxEntries: 1_000_000, maxAge: 86_400_000, maxBytes: 1024 * MIB };

const redis = useRealRedis();
let keys: CatalogKeys;
let history: History;
let trims: boolean;
let told: boolean[];
let now: number;

beforeEach(() => {
  keys = redis.freshKeys();
  history = new History(redis.client, keys, LIMITS);
  trims = true;
  told = [];
  now = 0;
});
afterEach(async () => {
  await redis.client.config('SET', 'maxmemory', '0');
  await redis.client.flushall();
});

function roomOf(client = redis.client): RedisRoom {
  return new RedisRoom({
    redis: client,
    keys,
    trims: () => trims,
    onRoom: (isFull) => told.push(isFull),
    onError: (error) => expect.fail(String(error)),
    now: () => now,
  });
}

async function used(): Promise<number> {
  return Number(/used_memory:(\d+)/u.exec(await redis.client.info('memory'))?.[1]);
}

/** So that this part of the memory is used at present. */
async function limitTo(part: number): Promise<void> {
  await redis.client.config('SET', 'maxmemory', String(Math.ceil((await used()) / part)));
}

async function writeHistory(entries: number): Promise<void> {
  const detail = 'x'.repeat(190);
  for (let from = 0; from < entries; from += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        history.addOutcome(reloaded(from + index, { detail, error: detail })),
      ),
    );
}

/** Writes history until Redis refuses it. */
async function fill(): Promise<unknown> {
  for (;;) {
    try {
      await writeHistory(500);
    } catch (error) {
      return error;
    }
  }
}

describe('before memory is full', () => {
  it('there is room, and it is known how much', async () => {
    await writeHistory(5_000);
    await limitTo(0.7);
    const room = roomOf();
    await room.look();
    const { used: bytes = 0, max = 1 } = room.memory ?? {};
    expect([room.isFull, told, Math.round((bytes / max) * 10)]).toEqual([false, [], 7]);
    expect(await history.count('outcomes')).toBe(5_000);
  });

  it('the leader trims the history by half at each look, until there is room again', async () => {
    await writeHistory(20_000);
    await history.addAudit({
      at: 1,
      actor: 'ann',
      action: 'reload',
      target: 'Deployment/shop/web',
      reason: 'a test',
      result: 'done',
      requestId: 'r',
    });
    await limitTo(0.95);
    const room = roomOf();
    await room.look();
    expect([room.isFull, await history.count('outcomes')]).toEqual([true, 10_000]);
    for (let looks = 0; looks < 10; looks += 1) await room.look();
    expect([room.isFull, told]).toEqual([false, [true, false]]);
    // Who did what is dropped last.
    expect(await history.count('audit')).toBe(1);
  });

  it('a process that does not lead trims nothing', async () => {
    trims = false;
    await writeHistory(5_000);
    await limitTo(0.95);
    const room = roomOf();
    await room.look();
    expect([room.isFull, await history.count('outcomes')]).toEqual([true, 5_000]);
  });

  it('between the two limits it stays as it was', async () => {
    // So much that buffers of connections, which Redis gives back at any time, are a small part.
    await writeHistory(20_000);
    await limitTo(0.85);
    const room = roomOf();
    await room.look();
    expect(room.isFull).toBe(false);
    await limitTo(0.95);
    trims = false;
    await room.look();
    await limitTo(0.85);
    await room.look();
    expect(room.isFull).toBe(true);
    await limitTo(0.75);
    await room.look();
    expect([room.isFull, told]).toEqual([false, [true, false]]);
  });
});

describe('memory that is full', () => {
  it('refuses jobs and rows; dropping the history makes room for both', async () => {
    const queues = new Queues({
      connection: redis.connect(),
      prefix: keys.prefix,
      debounce: 0,
      attempts: 5,
      backoff: 1_000,
    });
    const catalog = new Catalog(redis.client, keys);
    await catalog.claim('uid');
    await limitTo(0.5);
    const room = roomOf();
    const refusal = await fill();
    const enqueue = (): Promise<void> =>
      queues.enqueueReloads([{ workload: 'Deployment/shop/web', since: 1 }]);
    const failure: unknown = await enqueue().catch((error: unknown) => error);
    expect([isOutOfMemory(refusal), isOutOfMemory(failure)]).toEqual([true, true]);
    // A process that begins now is not kept from it.
    await catalog.claim('uid');
    room.failed(failure);
    await expect.poll(() => history.count('outcomes')).toBe(0);
    await enqueue();
    await catalog.publish({ writer: { term: '1', sequence: 0 }, sources: [], workloads: [] });
    expect([room.isFull, told, await queues.waiting(RELOADS)]).toEqual([true, [true], 1]);
    await room.look();
    expect([room.isFull, told]).toEqual([false, [true, false]]);
    await queues.close();
  });

  it('has the audit log dropped too, if there is no other history', async () => {
    const audit = {
      at: 1,
      actor: 'ann',
      action: 'a',
      target: 't',
      reason: '',
      result: 'done',
      requestId: 'r',
    } as const;
    await history.addAudit(audit);
    const room = roomOf();
    room.failed(new Error("OOM command not allowed when used memory > 'maxmemory'."));
    await expect.poll(() => history.count('audit')).toBe(0);
  });

  it('is told by refusals alone where the server has no INFO for us: a minute after the last one there is room', async () => {
    await redis.client.acl('SETUSER', 'narrow', 'on', 'nopass', '~*', '+@all', '-info');
    const narrow = redis.connect();
    await narrow.auth('narrow', '');
    const room = roomOf(narrow);
    room.failed(
      new Error('ERR Error running script: @user_script: OOM command not allowed when used memory'),
    );
    now = 59_999;
    await room.look();
    expect([room.isFull, room.memory]).toEqual([true, undefined]);
    now = 60_000;
    await room.look();
    expect([room.isFull, told]).toEqual([false, [true, false]]);
  });

  it('no other error of Redis says', () => {
    const room = roomOf();
    for (const error of [new Error('NOPERM'), new Error('Connection is closed.'), 'OOM', undefined])
      room.failed(error);
    expect([room.isFull, told]).toEqual([false, []]);
  });
});
