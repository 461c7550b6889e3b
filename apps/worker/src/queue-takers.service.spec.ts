import { EventEmitter } from 'node:events';
import type { Worker } from 'bullmq';
import { describe, expect, it, vi } from 'vitest';
import { QueueTakers } from './queue-takers.service.ts';

type Arguments = ConstructorParameters<typeof QueueTakers>;

class FakeRedis extends EventEmitter {
  readonly status = 'ready';
  readonly exists = vi.fn<() => Promise<number>>();
}

/** Closes two workers over that connection. */
function closing(redis: FakeRedis): { closed: Promise<void>; workers: { close: () => void }[] } {
  const taking = { connection: redis, prefix: '{reroll}', concurrency: 1, lockDuration: 30_000 };
  const takers = new QueueTakers(...([taking] as unknown as Arguments));
  const workers = ['changes', 'reloads'].map(() => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { worker: { close: vi.fn(() => promise) }, close: resolve };
  });
  const closed = takers.close(
    workers.map(({ worker }) => worker as unknown as Worker),
    new AbortController().signal,
  );
  for (const { worker } of workers) expect(worker.close).toHaveBeenCalledTimes(1);
  return { closed, workers };
}

describe('the end of taking jobs', () => {
  it('comes when all workers have finished their jobs, which end at the same time', async () => {
    const redis = new FakeRedis();
    redis.exists.mockResolvedValue(0);
    const { closed, workers } = closing(redis);
    const ended = vi.fn();
    void closed.then(ended);
    workers[1]?.close();
    await vi.waitUntil(() => redis.exists.mock.calls.length > 1, { timeout: 60_000 });
    expect(ended).not.toHaveBeenCalled();
    workers[0]?.close();
    await closed;
    expect(redis.listenerCount('close')).toBe(0);
  });

  it('does not wait for jobs whose end Redis could not record: its connection closes', async () => {
    const redis = new FakeRedis();
    redis.exists.mockResolvedValue(0);
    const { closed } = closing(redis);
    redis.emit('close');
    await closed;
  });

  it('does not wait for jobs whose end Redis could not record: it stops answering', async () => {
    const redis = new FakeRedis();
    redis.exists.mockResolvedValueOnce(0).mockReturnValue(new Promise(() => undefined));
    await closing(redis).closed;
    expect(redis.exists).toHaveBeenCalledTimes(2);
  });
});
