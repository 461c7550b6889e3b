import { find, inBrowser, mount, requests } from '../testing/mounted.ts';
import { h } from 'preact';
import { afterEach, expect, it, vi } from 'vitest';
import { parseRoute, route } from '../router.ts';
import { news } from '../state/live.ts';
import { Audit } from './audit.tsx';
import { Changes } from './changes.tsx';

afterEach(() => vi.unstubAllGlobals());
inBrowser();

function sinceAsked(path: string): string[] {
  return requests
    .filter((each) => each.path.startsWith(`/${path}?`) && !each.path.includes('limit='))
    .map((each) => new URLSearchParams(each.path.split('?')[1]).get('since') ?? 'none');
}

it.each([
  ['changes', Changes],
  ['audit', Audit],
])('%s of the last 15 minutes are those at each request', async (page, Page) => {
  route.value = parseRoute(`#/${page}?since=15`);
  await mount(h(Page, {}));
  const begun = Date.now();
  for (const { answer } of requests) await answer({ items: [], next: null });
  vi.setSystemTime(begun + 20 * 60_000);
  news.value += 1;
  await mount(h(Page, {}));
  const ages = sinceAsked(page).map((since) => Math.round((Date.parse(since) - begun) / 60_000));
  expect(ages[1]).toBe((ages[0] ?? 0) + 20);
});

it.each([
  ['60', '#/changes?since=60'],
  ['15', '#/changes?from=2026-11-21T15%3A00%3A00Z&until=2026-11-21T15%3A07%3A00Z&since=15'],
])(
  'a selected time of the last 15 minutes is followed, with the filter since %s, by %s',
  async (since, to) => {
    const location = { hash: '' };
    vi.stubGlobal('location', location);
    vi.stubGlobal(
      'FormData',
      class extends Map<string, string> {
        constructor() {
          super([['since', since]]);
        }
      },
    );
    route.value = parseRoute('#/changes?since=15&from=2026-11-21T15:00:00Z&until=2026-11-21T15:07:00Z');
    await mount(h(Changes, {}));
    await find('form').fire('submit');
    expect(location.hash).toBe(to);
  },
);

it('the focus goes to the button of the filters that were asked for', async () => {
  const location = { hash: '' };
  vi.stubGlobal('location', location);
  vi.stubGlobal(
    'FormData',
    class {
      get = (): null => null;
    },
  );
  route.value = parseRoute('#/audit?actor=ann');
  await mount(h(Audit, {}));
  const last = find('form');
  await last.fire('submit');
  route.value = parseRoute(location.hash);
  await mount(h(Audit, {}));
  expect(find('form')).not.toBe(last);
  expect(document.activeElement).toBe(find('button', 'Filter'));
});
