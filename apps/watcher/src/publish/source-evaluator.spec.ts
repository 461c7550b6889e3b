import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SourceEvaluator } from './source-evaluator.ts';

/** An evaluation with this many slices of work. */
function evaluatorOf(work: { slices: number }) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const evaluation = {
    isWindowOpen: false,
    onWork: () => undefined as void,
    slice: vi.fn(() => {
      evaluation.isWindowOpen ||= work.slices > 0;
      work.slices = Math.max(0, work.slices - 1);
      return work.slices > 0;
    }),
    nextWindow: vi.fn(() => {
      evaluation.isWindowOpen = false;
    }),
  };
  const evaluator = new SourceEvaluator(evaluation, () => undefined);
  onTestFinished(() => evaluator.stop());
  const idle = async (): Promise<void> => {
    for (let turn = 0; turn < 30; turn += 1) await nextTurn();
  };
  return { evaluation, evaluator, idle };
}

test('other work of the event loop comes between two slices', async () => {
  const { evaluation, evaluator } = evaluatorOf({ slices: 5 });
  evaluator.kick();
  const seen: number[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    await nextTurn();
    seen.push(evaluation.slice.mock.calls.length);
  }
  expect(seen.at(-1)).toBe(5);
  expect(new Set(seen).size).toBeGreaterThanOrEqual(5);
});

test('a window is ended once, a twentieth of a second after a little work, and nothing is timed when idle', async () => {
  const { evaluation, evaluator, idle } = evaluatorOf({ slices: 1 });
  evaluator.kick();
  await idle();
  vi.advanceTimersByTime(49);
  expect(evaluation.nextWindow).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(evaluation.nextWindow).toHaveBeenCalledOnce();
  await idle();
  expect(vi.getTimerCount()).toBe(0);
});

test('after much work the window is longer', async () => {
  const { evaluation, evaluator, idle } = evaluatorOf({ slices: 20 });
  evaluator.kick();
  await idle();
  vi.advanceTimersByTime(499);
  expect(evaluation.nextWindow).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(evaluation.nextWindow).toHaveBeenCalledOnce();
});

test('after its stop nothing is evaluated any more', async () => {
  const { evaluation, evaluator, idle } = evaluatorOf({ slices: 9 });
  evaluator.kick();
  await nextTurn();
  await evaluator.stop();
  const before = evaluation.slice.mock.calls.length;
  evaluator.kick();
  await idle();
  expect(evaluation.slice.mock.calls.length).toBe(before);
});

test('work of which no event tells begins by itself', async () => {
  const { evaluation, idle } = evaluatorOf({ slices: 1 });
  evaluation.onWork();
  await idle();
  expect(evaluation.slice).toHaveBeenCalledOnce();
});

test('a window ends while workloads wait for their patterns without an end', async () => {
  const { evaluation, evaluator } = evaluatorOf({ slices: Number.POSITIVE_INFINITY });
  evaluator.kick();
  for (let turn = 0; turn < 30; turn += 1) await nextTurn();
  vi.advanceTimersByTime(500);
  expect(evaluation.nextWindow).toHaveBeenCalledOnce();
  for (let turn = 0; turn < 30; turn += 1) await nextTurn();
  vi.advanceTimersByTime(500);
  expect(evaluation.nextWindow).toHaveBeenCalledTimes(2);
});
