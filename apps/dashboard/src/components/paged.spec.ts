import { find, inBrowser, mount, requests, text } from '../testing/mounted.ts';
import { h, type ComponentChild } from 'preact';
import { describe, expect, it, vi } from 'vitest';
import { announcement } from '../state/announcer.ts';
import { keepCalm } from '../state/calm.ts';
import { news, slowNews, tellDeed } from '../state/live.ts';
import type { Freshness } from '../use-answer.ts';
import { goLongAgo } from '../testing/long-ago.ts';
import { Paged } from './paged.tsx';

inBrowser();

/** A list of ids of audit entries. */
function list(query: Record<string, string> = {}, freshness: Freshness = 'news'): ComponentChild {
  const keyOf = ({ id }: { id: string }): string => id;
  return h(Paged<'listAudit'>, {
    id: 'listAudit',
    query,
    freshness,
    what: 'entries',
    keyOf,
    children: (items) => (items.length === 0 ? 'none' : items.map(keyOf).join(' ')),
  });
}

function page(ids: string, next: string | null): unknown {
  return { items: ids.split(' ').flatMap((id) => (id === '' ? [] : [{ id }])), next };
}

const SHOW_MORE = 'Show more entries';

async function more(): Promise<void> {
  await find('button', SHOW_MORE).fire('click');
}

async function refreshed(ids: string, next: string | null): Promise<void> {
  news.value += 1;
  await mount(list());
  await requests.at(-1)?.answer(page(ids, next));
}

describe('a list', () => {
  it('shows further pages when they are asked for', async () => {
    await mount(list());
    await requests[0]?.answer(page('9 8', '8'));
    expect(text()).toBe(`9 8${SHOW_MORE}`);
    await more();
    expect(requests[1]?.path).toBe('/audit?cursor=8');
    await requests[1]?.answer(page('7 6', null));
    expect(text()).toBe('9 8 7 6');
    expect(announcement.value).toBe('4 entries are shown');
  });

  it('drops an answer for an earlier filter', async () => {
    await mount(list({ actor: 'ann' }));
    await requests[0]?.answer(page('9 8', '8'));
    await more();
    await mount(list({ actor: 'bob' }));
    await requests[2]?.answer(page('5', null));
    await requests[1]?.answer(page('7 6', null));
    expect(text()).toBe('5');
  });

  it('has no gap where what is new has moved items off the first page', async () => {
    await mount(list());
    await requests[0]?.answer(page('9 8 7', '7'));
    await more();
    await requests[1]?.answer(page('6 5 4', '4'));
    await refreshed('11 10 9', '9');
    expect(text()).toBe(`11 10 9 8 7 6 5 4${SHOW_MORE}`);
    await more();
    expect(requests.at(-1)?.path).toBe('/audit?cursor=4');
  });

  it('no longer shows what has left the first page while later items moved up', async () => {
    await mount(list());
    await requests[0]?.answer(page('9 8 7', '7'));
    await more();
    await requests[1]?.answer(page('6 5 4', null));
    await refreshed('9 7 6', '6');
    expect(text()).toBe('9 7 6 5 4');
  });

  it('no longer shows later items when there is but one page left', async () => {
    await mount(list());
    await requests[0]?.answer(page('9 8 7', '7'));
    await more();
    await requests[1]?.answer(page('6 5', null));
    await refreshed('9 8', null);
    expect(text()).toBe('9 8');
  });

  it('begins anew when the whole first page is new', async () => {
    await mount(list());
    await requests[0]?.answer(page('9 8', '8'));
    await more();
    await requests[1]?.answer(page('7 6', null));
    await refreshed('19 18', '18');
    expect(text()).toBe(`19 18${SHOW_MORE}`);
  });

  it('has as many pages as before when the reader comes back to it', async () => {
    await mount(list());
    await requests[0]?.answer(page('9 8', '8'));
    await more();
    await requests[1]?.answer(page('7', '7'));
    await more();
    await requests[2]?.answer(page('6', '6'));
    const left: unknown = history.state;
    // Another entry of the history, with the same list.
    history.replaceState(null, '');
    requests.length = 0;
    await mount(null);
    await mount(list());
    expect(requests.map(({ path }) => path)).toEqual(['/audit']);
    history.replaceState(left, '');
    requests.length = 0;
    await mount(null);
    await mount(list());
    await requests[0]?.answer(page('9 8', '8'));
    expect(text()).toBe(`9 8${SHOW_MORE}`);
    await requests[1]?.answer(page('9 8', '8'));
    await requests[2]?.answer(page('7b', '7'));
    await requests[3]?.answer(page('6b', '6'));
    expect(requests.map(({ path }) => path)).toEqual([
      '/audit',
      '/audit',
      '/audit?cursor=8',
      '/audit?cursor=7',
    ]);
    expect(text()).toBe(`9 8 7b 6b${SHOW_MORE}`);
  });

  it('shows a further page that is asked for before the others are back', async () => {
    history.replaceState({ pages: { [JSON.stringify({ id: 'listAudit', query: {} })]: 3 } }, '');
    await mount(list());
    await requests[0]?.answer(page('9 8', '8'));
    await more();
    await requests.at(-1)?.answer(page('7', '7'));
    expect(text()).toBe(`9 8 7${SHOW_MORE}`);
    expect(history.state).toMatchObject({ pages: { [JSON.stringify({ id: 'listAudit', query: {} })]: 1 } });
  });

  it('is not called empty while more may follow an empty page', async () => {
    await mount(list());
    await requests[0]?.answer(page('', '8'));
    expect(text()).toBe(`None so far; there may be more.${SHOW_MORE}`);
    await more();
    await requests[1]?.answer(page('', null));
    expect(text()).toBe('none');
  });

  it('reads its further pages again with the slow news, the less often the more they are', async () => {
    const beat = async (): Promise<string[]> => {
      requests.length = 0;
      slowNews.value += 1;
      await mount(list());
      for (let at = 0; at < requests.length; at += 1) {
        const cursor = Number(/cursor=(\d)/.exec(requests[at]?.path ?? '')?.[1] ?? 9);
        await requests[at]?.answer(page(`${cursor}b`, `${cursor - 1}`));
      }
      return requests.map(({ path }) => path);
    };
    await mount(list());
    await requests[0]?.answer(page('9b', '8'));
    expect(await beat()).toEqual([]);
    await more();
    await requests.at(-1)?.answer(page('8a', '7'));
    expect(await beat()).toEqual(['/audit', '/audit?cursor=8']);
    expect(text()).toBe(`9b 8b${SHOW_MORE}`);
    await more();
    await requests.at(-1)?.answer(page('7a', '6'));
    expect(await beat()).toEqual([]);
    expect(await beat()).toHaveLength(3);
    expect(text()).toBe(`9b 8b 7b${SHOW_MORE}`);
  });

  describe('that is read again with the slow news, as two further pages are shown', () => {
    async function shown(freshness: Freshness = 'news'): Promise<void> {
      await mount(list({}, freshness));
      await requests[0]?.answer(page('9', '8'));
      await more();
      await requests.at(-1)?.answer(page('8a', '7'));
      await more();
      await requests.at(-1)?.answer(page('7a', '6'));
      requests.length = 0;
    }

    async function beats(count: number, freshness: Freshness = 'news'): Promise<void> {
      for (let at = 0; at < count; at += 1) {
        slowNews.value += 1;
        await mount(list({}, freshness));
      }
    }

    it('shows what was read although other beats came meanwhile', async () => {
      await shown();
      await beats(2);
      await requests[0]?.answer(page('9', '8'));
      await beats(1);
      await requests[1]?.answer(page('8b', '7'));
      await requests[2]?.answer(page('7b', '6'));
      expect(requests).toHaveLength(3);
      expect(text()).toBe(`9 8b 7b${SHOW_MORE}`);
    });

    it('is read by one request at a time, and by none once it is not shown', async () => {
      await shown();
      await beats(2);
      await beats(2);
      expect(requests.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
      await mount(null);
      expect(requests.map(({ signal }) => signal?.aborted)).toEqual([true, true]);
    });

    it('is not read while the API wants to be left alone', async () => {
      await shown();
      goLongAgo();
      keepCalm(60);
      await beats(2);
      expect(requests).toEqual([]);
      vi.setSystemTime(Date.now() + 60_000);
      await beats(1);
      expect(requests).toHaveLength(1);
    });

    it('is not read if it is asked for once', async () => {
      await shown('once');
      await beats(4, 'once');
      expect(requests).toEqual([]);
    });
  });

  describe('of which a further page is shown when the reader does something', () => {
    /** What the list shows is what it is asked for anew, as far as it was shown. */
    async function afterDeed(): Promise<void> {
      await mount(list());
      await requests[0]?.answer(page('9 8', '8'));
      await more();
      await requests[1]?.answer(page('7 6', '6'));
      requests.length = 0;
      tellDeed();
      await mount(list());
    }

    /** Answers what was asked for with this cursor. */
    async function answer(cursor: string, ids: string, next: string): Promise<void> {
      const asked = requests.filter(({ path }) => path === `/audit${cursor}`);
      expect(asked).not.toEqual([]);
      for (const each of asked) await each.answer(page(ids, next));
    }

    it('shows what has become of that page', async () => {
      await afterDeed();
      await answer('', '9 8', '8');
      await answer('?cursor=8', '6 5', '5');
      expect(text()).toBe(`9 8 6 5${SHOW_MORE}`);
      expect(requests.filter(({ path }) => path.includes('cursor'))).toHaveLength(1);
    });

    it('shows what has become of it after the last of several deeds', async () => {
      await afterDeed();
      tellDeed();
      await mount(list());
      await answer('', '9 8', '8');
      await answer('?cursor=8', '5', '5');
      // The first was given up.
      expect(requests.filter(({ path }) => path.includes('cursor'))).toHaveLength(1);
      expect(text()).toBe(`9 8 5${SHOW_MORE}`);
    });

    it('keeps it as it was if it cannot be read again', async () => {
      await afterDeed();
      await answer('', '9 8', '8');
      await requests.at(-1)?.fail();
      expect(text()).toBe(`9 8 7 6${SHOW_MORE}`);
    });

    it('keeps what was asked for meanwhile', async () => {
      await afterDeed();
      await answer('', '9 8', '8');
      const [again] = requests.slice(-1);
      await more();
      await requests.at(-1)?.answer(page('5 4', null));
      await again?.answer(page('7 6', '6'));
      expect(text()).toBe('9 8 7 6 5 4');
    });
  });
});
