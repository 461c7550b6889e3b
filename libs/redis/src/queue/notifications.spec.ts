import { Worker } from 'bullmq';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { RedisClient } from '../connection/redis.ts';
import { useRealRedis } from '../testing/real-redis.ts';
import { BURST } from './burst-levels.ts';
import { alertJobOf, webhookJobOf, type NotificationJob } from './notification-jobs.ts';
import { Notifications, NotificationsFullError } from './notifications.ts';
import { NOTIFICATIONS } from './queues.ts';

const SOURCE = 'ConfigMap/shop/settings';
const OTHER = 'ConfigMap/shop/other';
const WEB = 'Deployment/shop/web';
const MOST = 5;

const redis = useRealRedis();
let prefix: string;
let notifications: Notifications;

beforeEach(() => {
  prefix = redis.freshKeys().prefix;
  const connection = redis.client as RedisClient;
  notifications = new Notifications({ connection, prefix, attempts: 3, backoff: 60_000, mostWaiting: MOST });
});
afterEach(() => notifications.close());

const NOTICES = [
  [
    'an event of a source',
    () => notifications.enqueueWebhook(SOURCE, 'update'),
    webhookJobOf(SOURCE, 'update'),
  ],
  ['a reload', () => notifications.enqueueAlert(SOURCE, WEB), alertJobOf(SOURCE, WEB)],
] as const;

async function waiting(): Promise<NotificationJob[]> {
  return (await notifications.queue.getJobs(['wait', 'delayed'])).map(({ data }) => data);
}

async function repeat(enqueue: () => Promise<void>): Promise<void> {
  for (let time = 0; time < 2 * MOST; time += 1) await enqueue();
}

it.each(NOTICES)('of %s one waits, and one follows it once it runs', async (_, enqueue, job) => {
  await repeat(enqueue);
  expect(await waiting()).toEqual([job]);
  const sent: NotificationJob[] = [];
  const answers: (() => void)[] = [];
  const send = async ({ data }: { data: NotificationJob }): Promise<void> => {
    sent.push(data);
    await new Promise<void>((resolve) => answers.push(resolve));
  };
  const worker = new Worker(NOTIFICATIONS, send, { connection: redis.connect(), prefix });
  try {
    await vi.waitUntil(() => answers.length === 1, { timeout: 60_000 });
    await repeat(enqueue);
    expect(await waiting()).toEqual([]);
    answers[0]?.();
    await vi.waitUntil(() => answers.length === 2, { timeout: 60_000 });
    answers[1]?.();
    await vi.waitUntil(async () => (await notifications.queue.getActiveCount()) === 0, { timeout: 60_000 });
    expect([sent, await waiting()]).toEqual([[job, job], []]);
  } finally {
    await worker.close();
  }
});

it.each(NOTICES)('of %s one waits for its next attempt', async (_, enqueue, job) => {
  await enqueue();
  const refuse = (): Promise<void> => Promise.reject(new Error('no answer'));
  const worker = new Worker(NOTIFICATIONS, refuse, { connection: redis.connect(), prefix });
  try {
    await vi.waitUntil(async () => (await notifications.queue.getDelayedCount()) === 1, { timeout: 60_000 });
    await repeat(enqueue);
    expect(await waiting()).toEqual([job]);
  } finally {
    await worker.close();
  }
});

it('each kind of event, source and workload has its own', async () => {
  await notifications.enqueueWebhook(SOURCE, 'update');
  await notifications.enqueueWebhook(SOURCE, 'delete');
  await notifications.enqueueWebhook(OTHER, 'update');
  await notifications.enqueueAlert(SOURCE, WEB);
  await notifications.enqueueAlert(SOURCE, 'Deployment/shop/api');
  expect(await waiting()).toHaveLength(5);
});

it('beyond the bound no other is taken, but those that wait are repeated', async () => {
  for (let other = 0; other < MOST; other += 1)
    await notifications.enqueueWebhook(`ConfigMap/shop/c${other}`, 'update');
  await expect(notifications.enqueueWebhook(SOURCE, 'update')).rejects.toThrow(NotificationsFullError);
  await expect(notifications.enqueueAlert(SOURCE, WEB)).rejects.toThrow(NotificationsFullError);
  await expect(notifications.enqueueAlerts(SOURCE, 10_000)).rejects.toThrow(NotificationsFullError);
  await expect(notifications.enqueueWebhook('ConfigMap/shop/c1', 'update')).resolves.toBeUndefined();
  expect(await waiting()).toHaveLength(MOST);
});

it('a namespace’s burst leaves half of the room to others, whose notifications pass it', async () => {
  // No time passes, in which more of the burst would count as none.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const connection = redis.client as RedisClient;
  const most = 4 * BURST;
  const many = new Notifications({ connection, prefix, attempts: 3, backoff: 60_000, mostWaiting: most });
  try {
    let lost = 0;
    for (let n = 0; n < 2 * most; n += 1)
      await many.enqueueWebhook(`ConfigMap/noisy/c${n}`, 'update').catch(() => (lost += 1));
    expect(lost).toBeGreaterThan(most);
    const taken = 2 * most - lost;
    await many.enqueueWebhook(SOURCE, 'update');
    expect(await many.queue.getJobCounts('wait', 'prioritized')).toEqual({
      wait: BURST + 1,
      prioritized: taken - BURST,
    });
  } finally {
    await many.close();
  }
});
