import { EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { expect, it, onTestFinished } from 'vitest';
import { endIfUnusable } from './unusable-queues.ts';

const redis = useRealRedis();

function lifecycleOfSpec(): Lifecycle {
  const process = Object.assign(new EventEmitter(), { exit: () => undefined });
  return new Lifecycle({ log: createLogger({ format: 'text', level: 'panic' }), timeout: 1_000, process });
}

/** Opens a queue while Redis gives no answers. */
async function queueWithoutAnswer(): Promise<Queue> {
  const { prefix } = redis.freshKeys();
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null, commandTimeout: 100 });
  onTestFinished(() => connection.disconnect());
  await connection.ping();
  await redis.client.call('CLIENT', 'PAUSE', '500', 'ALL');
  const queue = new Queue('q', { connection, prefix });
  queue.on('error', () => undefined);
  onTestFinished(() => queue.close());
  return queue;
}

it('ends a process whose queue got no answer, as it would reject every call for good', async () => {
  const lifecycle = lifecycleOfSpec();
  const queue = await queueWithoutAnswer();
  endIfUnusable(lifecycle, [queue]);
  expect(await lifecycle.stopped).toBe(1);
  await redis.client.ping();
  await expect(queue.add('job', {})).rejects.toThrow('Command timed out');
});

it('ends no process for a queue that was closed meanwhile', async () => {
  const lifecycle = lifecycleOfSpec();
  const queue = await queueWithoutAnswer();
  endIfUnusable(lifecycle, [queue]);
  await queue.close();
  await pause(200);
  expect(lifecycle.signal.aborted).toBe(false);
});
