import { expect, onTestFinished, test, vi } from 'vitest';
import type { WorkloadKey } from '@reroll/core/model';
import { KeyIndex } from './key-index.ts';

const SHOP: WorkloadKey = 'Deployment/team-a/shop';

/** An index whose scans take `took` ms by a clock that stands still otherwise, and that find what `mark` says. */
function indexWith(took: number) {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const redis: { mark: string | null } = { mark: null };
  const index = new KeyIndex<string>(async function* scan(): AsyncGenerator<[WorkloadKey, string | null][]> {
    await Promise.resolve();
    vi.advanceTimersByTime(took);
    yield [[SHOP, redis.mark]];
  });
  return { index, redis };
}

test('a snapshot that nobody read for long is not used, even if the scan is slow', async () => {
  const { index, redis } = indexWith(200);
  await index.snapshot();
  redis.mark = 'owed';
  vi.advanceTimersByTime(20 * 200 + 10_000);
  expect((await index.snapshot()).marks.get(SHOP)).toBe('owed');
});

test('a slow scan is not waited for while the snapshot is a few seconds old', async () => {
  const { index, redis } = indexWith(200);
  await index.snapshot();
  redis.mark = 'owed';
  vi.advanceTimersByTime(20 * 200 + 1_000);
  expect((await index.snapshot()).marks.get(SHOP)).toBeUndefined();
  await vi.waitFor(async () => expect((await index.snapshot()).marks.get(SHOP)).toBe('owed'));
});

test('a slow scan is not repeated before twenty times its own time has passed', async () => {
  const { index, redis } = indexWith(1_000);
  await index.snapshot();
  redis.mark = 'owed';
  vi.advanceTimersByTime(19 * 1_000);
  expect((await index.snapshot()).marks.get(SHOP)).toBeUndefined();
});
