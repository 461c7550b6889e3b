import { find, findAll, inBrowser, mount, requests } from '../testing/mounted.ts';
import { h } from 'preact';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseRoute, route } from '../router.ts';
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
    await requests[0]?.answer({ items: [{ name: 'eshop' }, { name: 'shop' }], complete: true });
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
    await requests[0]?.answer({ items: [{ name: 'eshop' }, { name: 'shop' }], complete: true });
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
    await requests[0]?.answer({ items: [{ name: 'bank' }], complete: true });
    expect(await find('input', '', 'namespace').press('Escape')).toBe(false);
    expect([find('input', '', 'namespace').value, options()]).toEqual(['shop', []]);
  });
});
