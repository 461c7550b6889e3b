import { afterEach, beforeEach, expect, it, vi } from 'vitest';

/** How the API answers a request for the stream of events. */
let answer: () => Promise<unknown>;

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  vi.stubGlobal('document', { baseURI: 'http://reroll/', visibilityState: 'visible' });
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('fetch', () => answer());
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  // What follows events goes on to follow those of the specs of other files.
  vi.resetModules();
});

async function followed(): Promise<typeof import('./live.ts')> {
  const live = await import('./live.ts');
  const { status } = await import('./status.ts');
  status.value = {} as typeof status.value;
  live.followEvents();
  await vi.advanceTimersByTimeAsync(0);
  return live;
}

it('lists are asked for again while there is no stream that tells of news', async () => {
  answer = () => Promise.reject(new Error('no stream passes this proxy'));
  const { liveState, news, slowNews } = await followed();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(liveState.value).toBe('lost');
  expect(news.value).toBeGreaterThanOrEqual(4);
  expect(slowNews.value).toBeGreaterThanOrEqual(4);
});

it('a connected stream alone tells when there is news', async () => {
  const body = { getReader: () => ({ read: () => new Promise(() => undefined) }) };
  answer = () => Promise.resolve({ ok: true, body });
  const { liveState, news } = await followed();
  await vi.advanceTimersByTimeAsync(40_000);
  expect(liveState.value).toBe('live');
  expect(news.value).toBe(0);
});

it('a reader who may not follow events is not told that a connection is tried', async () => {
  answer = () => Promise.resolve(new Response('{}', { status: 403 }));
  const { liveState, news } = await followed();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(liveState.value).toBe('refused');
  expect(news.value).toBeGreaterThanOrEqual(4);
});
