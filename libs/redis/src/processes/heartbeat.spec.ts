import { afterEach, expect, it, vi } from 'vitest';
import { Heartbeat } from './heartbeat.ts';
import type { ProcessEntry } from './processes.ts';

afterEach(() => void vi.useRealTimers());

const ENTRY: Omit<ProcessEntry, 'seenAt'> = { app: 'worker', name: 'worker-1', version: '1', startedAt: 1 };

function heartbeat() {
  vi.useFakeTimers();
  const write = vi.fn(async (_id: string, _entry: typeof ENTRY) => undefined);
  const remove = vi.fn(async (_id: string) => undefined);
  const onError = vi.fn();
  const entry = { ...ENTRY };
  return {
    write,
    remove,
    onError,
    entry,
    start: () => new Heartbeat({ processes: { write, remove }, entry: () => entry, onError }),
  };
}

it('says every ten seconds what is true then, and takes itself away at the end', async () => {
  const { write, remove, entry, start } = heartbeat();
  const running = start();
  await vi.advanceTimersByTimeAsync(0);
  Object.assign(entry, { concurrency: 3 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(write.mock.calls.map(([, { concurrency }]) => concurrency)).toEqual([3, 3]);
  await running.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(write).toHaveBeenCalledTimes(2);
  expect(remove.mock.calls[0]).toEqual([write.mock.calls[0]?.[0]]);
});

it('tries again after pauses that grow, up to its interval, and tells of each failure', async () => {
  const { write, onError, start } = heartbeat();
  write.mockRejectedValue(new Error('no Redis'));
  start();
  const beats: number[] = [];
  for (let second = 0; second < 40; second += 0.5) {
    await vi.advanceTimersByTimeAsync(second === 0 ? 0 : 500);
    if (write.mock.calls.length > beats.length) beats.push(second);
  }
  expect(beats).toEqual([0, 0.5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5]);
  expect(onError).toHaveBeenCalledTimes(beats.length);
});

it('says nothing of a Redis that does not answer until its connection is closed at the end', async () => {
  const { remove, onError, start } = heartbeat();
  const { promise, reject } = Promise.withResolvers<undefined>();
  remove.mockReturnValue(promise);
  const stopped = start().stop();
  await vi.advanceTimersByTimeAsync(500);
  await stopped;
  reject(new Error('Connection is closed.'));
  await vi.advanceTimersByTimeAsync(0);
  expect(onError).not.toHaveBeenCalled();
});
