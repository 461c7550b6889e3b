import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** How the API answers a request for the stream of events. */
let answer: (signal: AbortSignal, headers: Readonly<Record<string, string>>) => Promise<unknown>;

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  vi.stubGlobal('document', { baseURI: 'http://reroll/', visibilityState: 'visible' });
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal(
    'fetch',
    (_: URL, { signal, headers }: { signal: AbortSignal; headers: Record<string, string> }) =>
      answer(signal, headers),
  );
});
afterEach(() => {
  vi.restoreAllMocks();
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

/** Never, until it is aborted. */
function hanging(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
  });
}

/** A stream that sends nothing. */
function silent(signal: AbortSignal): Promise<unknown> {
  return Promise.resolve({ ok: true, body: { getReader: () => ({ read: () => hanging(signal) }) } });
}

describe.each([
  ['is not answered', hanging],
  ['falls silent', silent],
])('a stream that %s', (_, answered) => {
  it('means that the connection is lost, if nothing else is answered', async () => {
    answer = answered;
    const { liveState } = await followed();
    const { connection } = await import('./connection.ts');
    await vi.advanceTimersByTimeAsync(44_000);
    expect([liveState.value === 'lost', connection.isLost.value]).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([liveState.value, connection.isLost.value]).toEqual(['lost', true]);
  });

  it('is held up alone, if other requests are answered', async () => {
    answer = answered;
    const { liveState } = await followed();
    const { connection } = await import('./connection.ts');
    await vi.advanceTimersByTimeAsync(30_000);
    connection.answered();
    await vi.advanceTimersByTimeAsync(15_000);
    expect([liveState.value, connection.isLost.value]).toEqual(['lost', false]);
  });
});

it('events are followed by a browser that cannot join signals, as Firefox 121', async () => {
  vi.spyOn(AbortSignal, 'any').mockImplementation(() => {
    throw new TypeError('AbortSignal.any is not a function');
  });
  answer = silent;
  const { liveState } = await followed();
  expect(liveState.value).toBe('live');
});

it('a stream goes on after the last heartbeat, although no event has come', async () => {
  const positions: (string | undefined)[] = [];
  answer = (_, headers) => {
    positions.push(headers['last-event-id']);
    const sent = ['retry: 2000\nid: 1-0\n\n', ': heartbeat\nid: 7-0\n\n'][positions.length - 1];
    return Promise.resolve(new Response(sent));
  };
  const { feed } = await followed();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(positions.slice(0, 3)).toEqual([undefined, '1-0', '7-0']);
  expect(feed.value).toEqual([]);
});
