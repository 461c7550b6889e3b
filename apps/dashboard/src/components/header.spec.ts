import { find, findAll, inBrowser, mount, requests, text } from '../testing/mounted.ts';
import { h } from 'preact';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseRoute, route } from '../router.ts';
import { announcement } from '../state/announcer.ts';
import { signIn, token } from '../state/session.ts';
import { status } from '../state/status.ts';
import { Header } from './header.tsx';

const PROPS = { isMenuOpen: false, toggleMenu: () => undefined, help: () => undefined };
let location: { hash: string };

afterEach(() => {
  vi.unstubAllGlobals();
  status.value = undefined;
  route.value = parseRoute('');
});
inBrowser();
beforeEach(() => {
  location = { hash: '' };
  vi.stubGlobal('location', location);
  vi.stubGlobal(
    'FormData',
    class {
      get = (name: string): string => find('input', '', name).value;
    },
  );
});

/** The header on a page, with rights on all namespaces or some. */
async function shown(fragment: string, clusterWide = true): Promise<void> {
  route.value = parseRoute(fragment);
  status.value = {
    cluster: 'shop-production',
    caller: { name: 'ann', clusterWide },
  } as unknown as typeof status.value;
  await mount(h(Header, PROPS));
}

/** What a browser does where the location leads. */
async function followed(): Promise<void> {
  route.value = parseRoute(location.hash);
  await mount(h(Header, PROPS));
}

/** Types, and waits until the API has been asked. */
async function type(field: string, given: string): Promise<void> {
  requests.length = 0;
  await find('input', '', field).fire('input', given);
  await vi.advanceTimersByTimeAsync(300);
}

const options = (): string[] => findAll('li').map(({ textContent }) => textContent);
const selected = (): string[] =>
  findAll('li').flatMap(({ textContent, attributes }) =>
    attributes.get('aria-selected') === 'true' ? [textContent] : [],
  );

describe('the namespace', () => {
  it.each([
    [true, 'All namespaces'],
    [false, 'Your namespaces'],
  ])('of a reader who sees all, %s, is at first: %s', async (clusterWide, expected) => {
    await shown('#/changes', clusterWide);
    expect(find('input', '', 'namespace').attributes.get('placeholder')).toBe(expected);
    expect(requests).toEqual([]);
    await find('input', '', 'namespace').fire('click');
    expect(options()).toEqual([expected]);
  });

  it('is chosen among those that have what is typed in their names, and stays on the page', async () => {
    await shown('#/changes?state=failed');
    await type('namespace', 'sho');
    expect(requests.map(({ path }) => path)).toEqual(['/namespaces?name=sho&limit=20']);
    await requests[0]?.answer({ items: [{ name: 'eshop' }, { name: 'shop' }], next: null });
    expect([options(), selected()]).toEqual([['eshop', 'shop'], ['eshop']]);
    const field = find('input', '', 'namespace');
    await field.press('ArrowDown');
    expect(selected()).toEqual(['shop']);
    expect(await field.press('Enter')).toBe(false);
    expect(location.hash).toBe('#/changes?namespace=shop&state=failed');
    await followed();
    expect(find('input', '', 'namespace').value).toBe('shop');
    expect(options()).toEqual([]);
  });

  it('that is typed to its end comes first', async () => {
    await shown('');
    await type('namespace', 'shop');
    await requests[0]?.answer({ items: [{ name: 'eshop' }, { name: 'shop' }], next: null });
    expect(selected()).toEqual(['shop']);
  });

  it('is taken as it is typed if the API does not answer', async () => {
    await shown('');
    await type('namespace', 'shop');
    await requests[0]?.fail();
    expect(await find('input', '', 'namespace').press('Enter')).toBe(true);
    await findAll('form')[0]?.fire('submit');
    expect(location.hash).toBe('#/?namespace=shop');
  });

  it('is given up for all by the first option', async () => {
    await shown('#/workloads/Deployment/shop/web?namespace=shop');
    await find('input', '', 'namespace').fire('click');
    await find('li', 'All namespaces').fire('click');
    expect(location.hash).toBe('#/workloads/Deployment/shop/web');
  });

  it('is what it was after Escape', async () => {
    await shown('#/?namespace=shop');
    await type('namespace', 'b');
    await requests[0]?.answer({ items: [{ name: 'bank' }], next: null });
    expect(await find('input', '', 'namespace').press('Escape')).toBe(false);
    expect([find('input', '', 'namespace').value, options()]).toEqual(['shop', []]);
  });
});

describe('the search', () => {
  const WEB = { kind: 'Deployment', namespace: 'shop', name: 'web' };
  const KEYS = { kind: 'Secret', namespace: 'shop', name: 'web-keys' };

  async function answered(): Promise<void> {
    await requests[0]?.answer({ items: [WEB], next: null });
    await requests[1]?.answer({ items: [KEYS], next: null });
  }

  it('suggests workloads and sources of the chosen namespace, and leads to the one that is chosen', async () => {
    await shown('#/?namespace=shop');
    await type('search', 'WE');
    expect(requests.map(({ path }) => path)).toEqual([
      '/workloads?namespace=shop&name=we&limit=20',
      '/sources?namespace=shop&name=we&limit=20',
    ]);
    await answered();
    expect([options(), selected()]).toEqual([['Deployment shop/web', 'Secret shop/web-keys'], []]);
    expect(announcement.value).toBe('2 suggestions');
    const field = find('input', '', 'search');
    for (const [key, expected] of [
      ['ArrowUp', 'Secret shop/web-keys'],
      ['ArrowDown', 'Deployment shop/web'],
      ['ArrowDown', 'Secret shop/web-keys'],
    ] as const) {
      await field.press(key);
      expect(selected()).toEqual([expected]);
    }
    expect(field.attributes.get('aria-activedescendant')).toBe(findAll('li')[1]?.attributes.get('id'));
    await field.press('Enter');
    expect(location.hash).toBe('#/sources/Secret/shop/web-keys?namespace=shop');
    expect([field.value, options()]).toEqual(['', []]);
  });

  it('leads to the results by Enter without a choice', async () => {
    await shown('');
    await type('search', 'we');
    await answered();
    expect(await find('input', '', 'search').press('Enter')).toBe(true);
    await findAll('form')[1]?.fire('submit');
    expect(location.hash).toBe('#/search?q=we');
    expect(options()).toEqual([]);
  });

  it('closes its suggestions by Escape, and opens them again by an arrow', async () => {
    await shown('');
    await type('search', 'we');
    await answered();
    const field = find('input', '', 'search');
    await field.press('Escape');
    expect([options(), field.value, field.attributes.get('aria-expanded')]).toEqual([[], 'we', 'false']);
    expect(await field.press('Escape')).toBe(true);
    await field.press('ArrowDown');
    expect(options()).toHaveLength(2);
    expect(text()).toContain('Deployment shop/web');
  });
});

it('a header that a newer API breaks says so, until the next page, and the way to the pages stays', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  route.value = parseRoute('#/jobs');
  status.value = { cluster: 'shop' } as unknown as typeof status.value;
  await mount(h(Header, PROPS));
  expect(text()).toContain('The dashboard could not draw a part of this page.');
  expect(find('button', 'Menu').attributes.get('aria-controls')).toBe('pages');
  await shown('#/changes');
  expect(text()).not.toContain('could not draw');
  expect(text()).toContain('ann');
});

it('whoever has signed in with a token that has no right to the API can sign out', async () => {
  signIn('token');
  await mount(h(Header, PROPS));
  await find('button', 'Sign out').fire('click');
  expect(token.value).toBe('');
});
