import { inBrowser, requests } from '../testing/mounted.ts';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { connection } from '../state/connection.ts';
import { call, type CallError } from './client.ts';

inBrowser();

beforeEach(() => connection.answered());

/** What became of a call until now. */
function outcomeOf(called: Promise<unknown>): { error: unknown } {
  const outcome: { error: unknown } = { error: undefined };
  called.catch((error: unknown) => (outcome.error = error));
  return outcome;
}

describe('a request that is not answered', () => {
  it('is given up later than the API would, and the connection counts as lost', async () => {
    const outcome = outcomeOf(call('getStatus'));
    await vi.advanceTimersByTimeAsync(16_000);
    expect([outcome.error, connection.isLost.value]).toEqual([undefined, false]);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(outcome.error).toMatchObject({ name: 'CallError', status: 0 } satisfies Partial<CallError>);
    expect(connection.isLost.value).toBe(true);
  });

  it('is given up as well if the answer has only begun', async () => {
    vi.mocked(fetch).mockImplementation((_, init) => {
      const json = (): Promise<unknown> =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
        });
      return Promise.resolve({ ok: true, json } as Response);
    });
    const outcome = outcomeOf(call('getStatus'));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(outcome.error).toMatchObject({ name: 'CallError', status: 0 });
    expect(connection.isLost.value).toBe(true);
  });

  it('is waited for as long as the API may take, if it reads much of the cluster', async () => {
    const called = call('preview', { body: {} });
    await vi.advanceTimersByTimeAsync(300_000);
    await requests[0]?.answer({ conclusion: 'late' });
    expect(await called).toEqual({ conclusion: 'late' });
  });

  it('says nothing about the connection if nobody wants the answer any more', async () => {
    const controller = new AbortController();
    const outcome = outcomeOf(call('getStatus', {}, controller.signal));
    controller.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(outcome.error).toMatchObject({ name: 'AbortError' });
    expect(connection.isLost.value).toBe(false);
  });
});
