import { find, inBrowser, mount, requests, text } from '../testing/mounted.ts';
import { h } from 'preact';
import { expect, it } from 'vitest';
import { parseRoute, route } from '../router.ts';
import { Search } from './search.tsx';

inBrowser();

it.each([
  ['WEB', 'name=web'],
  ['shop/Web', 'namespace=shop&name=web'],
  ['Deployment/shop/', 'namespace=shop&kind=Deployment'],
  ['Secret/shop/db', 'name=secret%2Fshop%2Fdb'],
])('a search for %s asks for %s', async (q, expected) => {
  route.value = parseRoute(`#/search?q=${q}`);
  await mount(h(Search, {}));
  expect(requests[0]?.path).toBe(`/workloads?${expected}&limit=20`);
});

it('a search is limited to the chosen namespace, unless it names one', async () => {
  route.value = parseRoute('#/search?namespace=bank&q=web');
  await mount(h(Search, {}));
  expect(requests.map(({ path }) => path)).toEqual([
    '/workloads?namespace=bank&name=web&limit=20',
    '/sources?namespace=bank&name=web&limit=20',
  ]);
  requests.length = 0;
  route.value = parseRoute('#/search?namespace=bank&q=shop/web');
  await mount(h(Search, {}));
  expect(requests[0]?.path).toBe('/workloads?namespace=shop&name=web&limit=20');
});

it('a search does not say that there is none while more may follow an empty page', async () => {
  route.value = parseRoute('#/search?q=web');
  await mount(h(Search, {}));
  expect(requests.map(({ path }) => path)).toEqual([
    '/workloads?name=web&limit=20',
    '/sources?name=web&limit=20',
  ]);
  await requests[0]?.answer({ items: [], next: 'c' });
  expect(text()).not.toContain('None that you may see');
  await requests[1]?.answer({ items: [], next: null });
  expect(text()).toContain('None that you may see has "web" in its name.');
});

it('the focus goes to the heading of another search', async () => {
  route.value = parseRoute('#/search?q=web');
  await mount(h(Search, {}));
  find('a').focus();
  route.value = parseRoute('#/search?q=db');
  await mount(h(Search, {}));
  expect(document.activeElement).toBe(find('h1'));
});
