import { afterEach, describe, expect, test, vi } from 'vitest';
import { apiError, badResponse, networkError, type KubeError } from '../client/errors.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { follow, Following, type Entry, type Follower, type FollowOptions } from '../testing/following.ts';
import type { NextAttempt } from './reconnect-delay.ts';
import { item, line, listEnd, ScriptedClient, type Answer } from '../testing/scripted-client.ts';

const running: Follower[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ reflector }) => reflector.stop()));
});

interface Play extends Follower {
  readonly client: ScriptedClient;
  readonly clock: FakeClock;
}

function play(
  script: { streams: Answer[]; pages?: (object | Error)[] },
  options: Partial<FollowOptions> = {},
): Play {
  const client = new ScriptedClient(script);
  const clock = new FakeClock();
  const backoff = { baseMs: 1000, maxMs: 8000, random: () => 1 };
  const follower = follow({ client, clock, path: '/api/v1/configmaps', backoff, ...options });
  running.push(follower);
  return { ...follower, client, clock };
}

/** A streamed list of one object, then whatever `then` adds. */
function listed(then = '', open = true): Answer {
  return { text: line('ADDED', item('a', 5)) + listEnd(7) + then, open };
}

const page = { metadata: { resourceVersion: '9' }, items: [item('a', 5)] };

describe('servers that do not know streamed lists', () => {
  test.each<[string, Answer]>([
    ['refuses the parameters', apiError({ request: 'w', status: 422, body: { reason: 'Invalid' } })],
    ['refuses them in an older way', apiError({ request: 'w', status: 400, body: { reason: 'BadRequest' } })],
    ['answers with a list', { text: `${JSON.stringify({ kind: 'ConfigMapList', items: [] })}\n` }],
    ['ends the watch without having said that the list is complete', { text: line('ADDED', item('x', 5)) }],
  ])('one that %s is asked for pages', async (_name, answer) => {
    const { client, clock, seen, reports } = play({ streams: [answer], pages: [page] });
    await clock.advance(0);
    expect(client.calls).toEqual(['list', 'page', 'watch 9']);
    expect(reports.seen).toEqual(['relist first', 'listed 1 paged', 'synced']);
    await seen.has({ a: '1' });
  });

  test('one that ignores the parameters and goes silent is asked for pages once that is noticed', async () => {
    const { client, clock } = play({
      streams: [{ text: line('ADDED', item('x', 5)), open: true }],
      pages: [page],
    });
    await clock.advance(99_999);
    expect(client.calls).toEqual(['list']);
    await clock.advance(2);
    expect(client.calls).toEqual(['list', 'page', 'watch 9']);
  });

  const gone = apiError({ request: 'g', status: 410, body: { reason: 'Expired' } });
  const tooLarge = badResponse('g', 'TooLarge');

  test.each([
    ['pages of 100 objects', [page], [100]],
    ['larger pages once lists took too long', [gone, gone, page], [100, 400, 1600]],
    [
      'smaller pages if one is too large, and never again larger ones',
      [gone, tooLarge, tooLarge, gone, page],
      [100, 400, 100, 25, 25],
    ],
    ['one object at a time at least', Array<Error>(6).fill(tooLarge), [100, 25, 6, 1, 1, 1]],
  ])('one is asked for %s', async (_name, pages, limits) => {
    const { client, clock } = play({ streams: [], pages }, { streamedLists: false });
    await clock.advance(60_000);
    expect(client.limits.slice(0, limits.length)).toEqual(limits);
  });

  test.each([
    ['too many requests', 429],
    ['a server error', 500],
    ['a missing right', 403],
  ])('%s is no refusal: the streamed list is tried again', async (_name, status) => {
    const { client, clock, reports } = play({
      streams: [apiError({ request: 'w', status, body: {} }), listed()],
    });
    await clock.advance(1000);
    expect(client.calls).toEqual(['list', 'list']);
    expect(reports.seen).toEqual([
      'relist first',
      `failure ${status}`,
      'relist broken',
      'listed 1 streamed',
      'synced',
    ]);
  });
});

describe('what a streamed list may hold', () => {
  test('objects that change or go while it streams end as they are at its resourceVersion', async () => {
    const text = [
      line('ADDED', item('a', 5)),
      line('ADDED', item('b', 6)),
      line('MODIFIED', item('a', 8, '2')),
      line('DELETED', item('b', 9)),
      line('BOOKMARK', { metadata: { resourceVersion: '8' } }),
      listEnd(9),
    ].join('');
    const { clock, seen, reflector } = play({ streams: [{ text, open: true }] });
    await clock.advance(0);
    await seen.has({ a: '2' });
    expect(seen.told).toEqual(['list', 'listed 3', 'DELETED b=1', 'end']);
    expect(reflector.status).toMatchObject({ synced: true, resourceVersion: '9' });
  });

  test('1200 objects come in batches of 100, with a turn of the event loop after each', async () => {
    const objects = Array.from({ length: 1200 }, (_, index) => line('ADDED', item(`o${index}`, index + 1)));
    const { clock, seen } = play({ streams: [{ text: objects.join('') + listEnd(1200), open: true }] });
    await clock.advance(0);
    const batches = Array.from({ length: 12 }, () => 'listed 100');
    expect(seen.told.length).toBeLessThan(batches.length);
    await vi.waitFor(() => expect(seen.told).toEqual(['list', ...batches, 'end']));
  });
});

describe('a watch', () => {
  test('is taken up again where the last bookmark left it', async () => {
    const bookmark = line('BOOKMARK', { metadata: { resourceVersion: '42' } });
    const { client, clock, reports } = play({ streams: [listed(bookmark, false)] });
    await clock.advance(1000);
    expect(client.calls).toEqual(['list', 'watch 42']);
    expect(reports.seen.at(-1)).toBe('reconnect ended');
  });

  test('that the server ends at once, again and again, is asked for ever more slowly', async () => {
    const ended = { text: '' };
    const { client, clock } = play({ streams: [listed('', false), ended, ended, ended, ended, ended] });
    await clock.advance(3600);
    // Asked at 0 (list), 1 s, 3 s; next at 7 s.
    expect(client.calls).toEqual(['list', 'watch 7', 'watch 7']);
    await clock.advance(4000);
    expect(client.calls).toHaveLength(4);
  });

  test('that lived for a while is taken up at once, and its end is no failure', async () => {
    const { client, clock, reports } = play(
      {
        streams: [listed()],
      },
      { silenceMs: 60_000 },
    );
    await clock.advance(60_000);
    expect(client.calls).toEqual(['list', 'watch 7']);
    expect(reports.seen.at(-1)).toBe('reconnect silent');
  });

  test('an error event other than 410 is a failure, and resumed', async () => {
    const error = line('ERROR', { kind: 'Status', code: 500, reason: 'InternalError', message: 'hunter2' });
    const { client, clock, reports } = play({ streams: [listed(error)] });
    await clock.advance(1000);
    expect(client.calls).toEqual(['list', 'watch 7']);
    expect(reports.seen.slice(3)).toEqual(['failure 500', 'reconnect failed']);
  });

  test('a 410 in an error event or as a status leads to a list', async () => {
    const gone = line('ERROR', { kind: 'Status', code: 410, reason: 'Expired' });
    const status = apiError({ request: 'w', status: 410, body: {} });
    const { client, clock, reports } = play({ streams: [listed(gone), listed('', false), status, listed()] });
    await clock.advance(20_000);
    expect(client.calls).toEqual(['list', 'list', 'watch 7', 'list']);
    expect(reports.seen.filter((report) => report.startsWith('relist'))).toEqual([
      'relist first',
      'relist gone',
      'relist gone',
    ]);
  });

  test('a 410 after an outage is the first answer: the list comes after the shortest delay', async () => {
    const down = networkError('w', new Error('refused'));
    const gone = apiError({ request: 'w', status: 410, body: {} });
    const streams = [listed('', false), down, down, down, gone, listed()];
    const { client, clock } = play({ streams });
    // Watches at 1, 3 and 7 s find nobody; the one at 15 s is answered.
    await clock.advance(15_999);
    expect(client.calls).toEqual(['list', ...times(4, 'watch 7')]);
    await clock.advance(1);
    expect(client.calls).toEqual(['list', ...times(4, 'watch 7'), 'list']);
  });

  test('answered by 410 for ever, whatever comes in between, is asked for ever more slowly', async () => {
    const gone = apiError({ request: 'w', status: 410, body: {} });
    const broken = apiError({ request: 'w', status: 500, body: {} });
    const { client, clock } = play({ streams: [gone, broken, gone, broken, gone, broken, gone, gone] });
    // 1 s after each 500, which never is the second in a row; 1, 2, 4, 8, 8 s after the 410s.
    await clock.advance(17_999);
    expect(client.calls).toHaveLength(7);
    await clock.advance(8000);
    expect(client.calls).toHaveLength(8);
  });

  test('after an outage of an hour it connects within ten seconds', async () => {
    const down = networkError('w', new Error('refused'));
    const { client, clock } = play(
      { streams: [listed('', false), ...times(1000, down)] },
      { backoff: { random: () => 1 } },
    );
    await clock.advance(3_600_000);
    const before = client.calls.length;
    expect(before).toBeLessThan(400);
    await clock.advance(10_000);
    expect(client.calls).toHaveLength(before + 1);
  });

  test('that lived for a while and was ended by the server starts the delays over', async () => {
    const down = networkError('w', new Error('refused'));
    class Late extends Following {
      protected override changed(entry: Entry, type: string): Promise<void> {
        void super.changed(entry, type);
        return new Promise((resolve) => clock.after(6000, resolve));
      }
    }
    const alive = { text: line('MODIFIED', item('a', 8, '2')) };
    const streams = [listed('', false), down, down, alive, down];
    const { client, clock } = play({ streams }, { handler: new Late() });
    // Watches at 1, 3 and 7 s; the last lives until 13 s, is taken up at once, and fails for the first time.
    await clock.advance(13_999);
    expect(client.calls).toEqual(['list', ...times(3, 'watch 7'), 'watch 8']);
    await clock.advance(1);
    expect(client.calls).toEqual(['list', ...times(3, 'watch 7'), ...times(2, 'watch 8')]);
  });

  test('waits as long as the server says, and tells so', async () => {
    const busy = apiError({ request: 'w', status: 429, body: {}, retryAfter: '30' });
    const delays: number[] = [];
    const hooks = { onFailure: (_error: KubeError, { delayMs }: NextAttempt) => void delays.push(delayMs) };
    const { client, clock } = play({ streams: [listed('', false), busy] }, { hooks });
    await clock.advance(30_999);
    expect(client.calls).toEqual(['list', 'watch 7']);
    await clock.advance(2);
    expect(client.calls).toEqual(['list', 'watch 7', 'watch 7']);
    expect(delays).toEqual([30_000]);
  });

  test.each([
    ['no JSON', 'oops hunter2\n'],
    ['no event', '{"hunter2":true}\n'],
    ['null', 'null\n'],
  ])('a line that is %s is a failure, and resumed', async (_name, text) => {
    const { client, clock, reports } = play({ streams: [listed(text)] });
    await clock.advance(1000);
    expect(client.calls).toEqual(['list', 'watch 7']);
    expect(reports.seen).toContain('failure KUBE_BAD_RESPONSE');
  });

  test('is not taken for silent while the handler is busy', async () => {
    let finish = (): void => undefined;
    class Busy extends Following {
      protected override changed(entry: Entry, type: string): Promise<void> {
        void super.changed(entry, type);
        return new Promise((resolve) => (finish = resolve));
      }
    }
    const script = { streams: [listed(line('MODIFIED', item('a', 8, '2')))] };
    const { client, clock, reports, reflector } = play(script, { handler: new Busy() });
    await clock.advance(500_000);
    expect(client.calls).toEqual(['list']);
    expect(reflector.status.resourceVersion).toBe('7');
    finish();
    await clock.advance(0);
    expect(reflector.status.resourceVersion).toBe('8');
    expect(reports.seen).toHaveLength(3);
  });
});

test('a handler whose promise never ends does not hold up stopping beyond its limit', async () => {
  class Stuck extends Following {
    protected override changed(): Promise<void> {
      return new Promise(() => undefined);
    }
  }
  const script = { streams: [listed(line('MODIFIED', item('a', 8)))] };
  const { clock, reflector } = play(script, { handler: new Stuck() });
  await clock.advance(0);
  const stopped = reflector.stop(3000);
  await clock.advance(3000);
  await stopped;
  running.splice(0);
  expect(clock.pending).toBe(0);
});

function times<T>(count: number, what: T): T[] {
  return Array.from({ length: count }, () => what);
}
