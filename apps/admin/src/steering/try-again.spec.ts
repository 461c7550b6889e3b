import { expect, it, onTestFinished, vi } from 'vitest';
import { tryAgain } from './try-again.ts';

it('tries three times, and once if the first try took long', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const slow = vi.fn(() => {
    vi.advanceTimersByTime(10_000);
    return Promise.reject(new Error('timed out'));
  });
  await expect(tryAgain(slow)).rejects.toThrow('timed out');
  expect(slow).toHaveBeenCalledOnce();
  const quick = vi.fn(() => Promise.reject(new Error('closed')));
  await expect(tryAgain(quick)).rejects.toThrow('closed');
  expect(quick).toHaveBeenCalledTimes(3);
});
