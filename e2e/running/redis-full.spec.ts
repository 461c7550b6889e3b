import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { reloaded } from '@reroll/core/testing/history';
import { AdminApi } from '../support/admin/admin-api.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, Space } from '../support/kube.ts';
import { RedisProcess } from '../support/redis/redis-process.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const NAMES = Array.from({ length: 5 }, (_, index) => `web-${index}`);
const FILLER = 'of-others';
const OUTCOMES = 3_000;
/** A heartbeat, by which each process looks, takes ten seconds. */
const HEARTBEATS = { within: 60_000 };

let space: Space;
let own: Space;
let reroll: Reroll;
let redis: RedisProcess;
let api: AdminApi;

beforeAll(async () => {
  const cluster = sharedCluster();
  const client = connect(cluster);
  space = await namespace(client);
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-full-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  redis = await RedisProcess.start({ folder, config: () => [] });
  const redisUrl = `redis://127.0.0.1:${redis.port}`;
  reroll = await startReroll({ cluster, namespaces: [space], redisUrl, admins: 1 });
  own = new Space(client, reroll.install);
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin);
  await space.apply(configMap('shared', { v: '1' }));
  await space.applyAll(NAMES.map((name) => deployment(name, auto(), usingEnvFrom('shared'))));
  await allInStep();
});

async function allInStep(): Promise<void> {
  await Promise.all(NAMES.map((name) => inStep(space, `Deployment/${name}`, ['ConfigMap/shared'])));
}

/** Data of others, and a history that is a twentieth of all: without it Redis is still full. */
async function fill(): Promise<void> {
  await redis.client.set(FILLER, 'x'.repeat(27_000_000));
  const detail = 'x'.repeat(190);
  const entries = Array.from({ length: OUTCOMES }, (_, index) => reloaded(index, { detail, error: detail }));
  await Promise.all(entries.map((entry) => reroll.history.addOutcome(entry)));
  const used = await settled();
  await redis.client.config('SET', 'maxmemory', Math.floor(0.99 * used));
}

/** Bytes that count against maxmemory, once the buffers of the writes are given back. */
async function settled(): Promise<number> {
  let last = 0;
  await eventually(async () => {
    const info = await redis.client.info('memory');
    const number = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'mu').exec(info)?.[1]);
    const before = last;
    last = number('used_memory') - number('mem_not_counted_for_evict');
    await sleep(500);
    return Math.abs(last - before) < last / 1_000;
  });
  return last;
}

it('a Redis that is full costs the history; changes are reloaded, everybody is told, and it is over by itself', async () => {
  await fill();
  await space.setData('ConfigMap/shared', { v: '2' });
  await allInStep();

  const status = await eventually(async () => {
    const answer = await api.call('getStatus');
    return answer.redis.full === true && answer;
  }, HEARTBEATS);
  expect(status.warnings.join()).toContain('Redis is full');
  const event = await eventually(
    async () => (await own.events()).find(({ reason }) => reason === 'RedisFull'),
    HEARTBEATS,
  );
  expect(event).toMatchObject({ type: 'Warning', involvedObject: { kind: 'Lease' } });
  const leader = await reroll.leader();
  await eventually(async () => /^reroll_redis_full 1$/mu.test(await leader.metrics()), HEARTBEATS);
  // All of it if a write was refused, else half of it at each look of the leader.
  await eventually(async () => (await reroll.history.count('outcomes')) <= OUTCOMES / 2, HEARTBEATS);

  await redis.client.del(FILLER);
  await eventually(async () => {
    const answer = await api.call('getStatus');
    return answer.redis.full === false && answer.warnings.length === 0;
  }, HEARTBEATS);
  const [worker] = reroll.workers;
  await eventually(async () => /^reroll_redis_full 0$/mu.test((await worker?.metrics()) ?? ''), HEARTBEATS);
  await space.setData('ConfigMap/shared', { v: '3' });
  await allInStep();
  await eventually(async () => {
    const outcomes = await reroll.outcomes(space);
    return outcomes.filter(({ state }) => state === 'reloaded').length === NAMES.length;
  });
});
