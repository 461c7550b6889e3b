import { AlertGroups } from '@reroll/redis/catalog/alert-groups';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { alertsJobOf } from '@reroll/redis/queue/notification-jobs';
import { connectAs, REDIS_USERS } from '@reroll/redis/testing/redis-users';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import type { Process } from '@reroll/nest/process';
import { PostError, type HttpPost, type Post } from '@reroll/shared/platform/http/http-post';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { workerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import { expect, it, onTestFinished } from 'vitest';
import { NotificationProcessor } from './notification.processor.ts';
import { Notifying } from './notifying.service.ts';

const SOURCE = 'ConfigMap/shop/settings';
const JOB = alertsJobOf(SOURCE);
const ATTEMPT = { number: 1, most: 10, startedAt: 0, jobId: '1' };

const redis = useRealRedis();

/** With the rights of a worker. `meanwhile` runs while a POST is under way. */
async function grouped(meanwhile: () => unknown) {
  const connection = await connectAs(redis, REDIS_USERS.worker);
  const { alerts } = redis.freshKeys();
  const groups = new AlertGroups(connection as RedisClient, alerts);
  const sent: string[] = [];
  const send = async ({ body }: Post): Promise<void> => {
    sent.push(body);
    await meanwhile();
  };
  const receiver = { post: { send } as HttpPost, sink: 'raw', additionalInfo: '' } as const;
  const processor = new NotificationProcessor({ alert: receiver, webhook: undefined, groups });
  return { alerts, groups, sent, processor };
}

it('a workload that is reloaded again while the alert is sent is in the next one', async () => {
  const { groups, sent, processor } = await grouped(() => groups.add(SOURCE, 'Deployment/shop/web'));
  await groups.add(SOURCE, 'Deployment/shop/web');
  await processor.handle(JOB);
  await processor.handle(JOB);
  expect(sent).toEqual([sent[0], sent[0]]);
  expect(sent[0]).toContain('Hence reloaded web of type Deployment in namespace shop');
});

it('the next attempt sends what was not received, with what came meanwhile', async () => {
  let refuses = true;
  const { groups, sent, processor } = await grouped(async () => {
    if (!refuses) return;
    await groups.add(SOURCE, 'Deployment/shop/web');
    throw new PostError('status 500');
  });
  await groups.add(SOURCE, 'Deployment/shop/api');
  await expect(processor.handle(JOB)).rejects.toThrow('NotDelivered: status 500');
  refuses = false;
  await processor.handle(JOB);
  await processor.handle(JOB);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toContain('2 workloads in namespace shop: api of type Deployment, web of type Deployment');
});

it('what is to be sent expires, in case alerts are switched off', async () => {
  const { alerts, groups, processor } = await grouped(() => Promise.reject(new PostError('status 500')));
  await groups.add(SOURCE, 'Deployment/shop/web');
  await expect(processor.handle(JOB)).rejects.toThrow('NotDelivered');
  const keys = await redis.client.keys(`${alerts}*`);
  const times = await Promise.all(keys.map((key) => redis.client.ttl(key)));
  expect(times).toEqual([expect.toSatisfy((seconds: number) => seconds > 0)]);
});

it('a job that finds nothing to send is not counted as delivered', async () => {
  const metrics = workerMetrics(createRegistry());
  const process = {
    log: silentLogger,
    lifecycle: { onStop: (_what: string, _limit: number, stop: () => void) => onTestFinished(stop) },
    outside: {},
  } as unknown as Process;
  const options = {
    alertOnReload: true,
    alertWebhookUrl: 'http://receiver.invalid',
    alertGrouping: 'change',
    alertWindow: 0,
    notificationAttempts: 1,
    notificationTimeout: 1_000,
    backoff: 1_000,
  } as WorkerOptions;
  const catalog = { keys: redis.freshKeys() } as Catalog;
  const { handler } = new Notifying(process, options, metrics, redis.client as RedisClient, catalog);
  await handler?.handle(JOB, ATTEMPT);
  const { values } = await metrics.notifications.get();
  expect(values.filter(({ value }) => value > 0)).toEqual([]);
});
