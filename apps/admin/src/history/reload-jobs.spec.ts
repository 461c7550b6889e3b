import { Queues } from '@reroll/redis/queue/queues';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { expect, onTestFinished, test } from 'vitest';
import { ReloadJobs } from './reload-jobs.ts';

const WEB = 'Deployment/shop/web';
const API = 'Deployment/shop/api';
const HOUR = 3_600_000;

const redis = useRealRedis();

function opened() {
  const { prefix } = redis.freshKeys();
  const queues = new Queues({ connection: redis.client, prefix, debounce: 0, attempts: 3, backoff: HOUR });
  onTestFinished(() => queues.close());
  return { queues, jobs: new ReloadJobs(redis.client, prefix) };
}

test('the job of a held reload is found, with the time at which it looks again', async () => {
  const { queues, jobs } = opened();
  const at = Date.now() + HOUR;
  await queues.enqueueHeld([{ v: 1, workload: WEB, since: 0 }], at);
  const found = await jobs.of([API, WEB]);
  expect([...found.keys()]).toEqual([WEB]);
  expect(found.get(WEB)).toMatchObject({ state: 'delayed', isHeld: true, made: 0, most: 3 });
  expect(Math.abs((found.get(WEB)?.until ?? 0) - at)).toBeLessThan(1_000);
});

test('the job of a change counts, although another one is held', async () => {
  const { queues, jobs } = opened();
  await queues.enqueueReloads([{ workload: WEB, since: 0 }]);
  await queues.enqueueHeld([{ v: 1, workload: WEB, since: 0 }], Date.now() + HOUR);
  expect((await jobs.of([WEB])).get(WEB)).toMatchObject({ state: 'waiting', isHeld: false });
});
