import { expect, it, onTestFinished, vi } from 'vitest';
import { createLogger } from './logging.ts';
import { repeatedFailure } from './repeated-failure.ts';

function failing(): { fail: (code: string) => void; lines: string[] } {
  const lines: string[] = [];
  const log = createLogger({ format: 'text', level: 'info', sink: { write: (line) => lines.push(line) } });
  const report = repeatedFailure(log, 'cannot read, retrying');
  return { fail: (code) => report(Object.assign(new Error('x'), { code })), lines };
}

it('logs a failure that repeats once a minute, and another one at once', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { fail, lines } = failing();
  for (let second = 0; second < 125; second += 1) {
    fail('ECONNREFUSED');
    vi.advanceTimersByTime(1_000);
  }
  expect(lines).toHaveLength(3);
  fail('ETIMEDOUT');
  expect(lines).toHaveLength(4);
  expect(lines.at(-1)).toContain('ETIMEDOUT');
});
