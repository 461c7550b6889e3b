import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Asking } from './asking.ts';
import { keepCalm, secondsOf } from './state/calm.ts';
import { goLongAgo } from './testing/long-ago.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Request extends PromiseWithResolvers<string> {
  readonly signal: AbortSignal;
}

function asking(): { requests: Request[]; told: string[]; question: Asking<string> } {
  const requests: Request[] = [];
  const told: string[] = [];
  const question = new Asking<string>({
    call: (signal) => {
      const request = { ...Promise.withResolvers<string>(), signal };
      requests.push(request);
      return request.promise;
    },
    onData: (data) => told.push(data),
    onError: (error) => told.push(String(error)),
  });
  return { requests, told, question };
}

async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

describe('a question', () => {
  it('has one request at a time, and one more after much news', async () => {
    const { requests, told, question } = asking();
    for (let count = 0; count < 5; count += 1) question.ask();
    expect(requests).toHaveLength(1);
    requests[0]?.resolve('one');
    await settled();
    expect([told, requests.length]).toEqual([['one'], 2]);
    requests[1]?.resolve('two');
    await settled();
    expect([told, requests.length]).toEqual([['one', 'two'], 2]);
  });

  it('aborts a request that is overtaken or that nobody wants, and takes no answer of it', async () => {
    const { requests, told, question } = asking();
    question.ask();
    question.refresh();
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    requests[0]?.resolve('old');
    requests[1]?.resolve('new');
    await settled();
    question.ask();
    question.stop();
    requests[2]?.reject(new Error('aborted'));
    await settled();
    expect(requests[2]?.signal.aborted).toBe(true);
    expect(told).toEqual(['new']);
  });

  it('that was one too many is asked once, when the API has said, whatever happens meanwhile', async () => {
    goLongAgo();
    const { requests, told, question } = asking();
    question.ask();
    keepCalm(30);
    requests[0]?.reject('429');
    await settled();
    for (let count = 0; count < 3; count += 1) question.ask();
    question.refresh();
    await vi.advanceTimersByTimeAsync(29_000);
    expect([told, requests.length]).toEqual([['429'], 1]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests).toHaveLength(2);
  });
});

it('Retry-After is read as seconds', () => {
  expect([secondsOf('42'), secondsOf(null), secondsOf('Wed, 21 Oct 2015 07:28:00 GMT')]).toEqual([
    42,
    undefined,
    undefined,
  ]);
});
