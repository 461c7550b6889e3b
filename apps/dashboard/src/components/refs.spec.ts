import { find, inBrowser, mount, text } from '../testing/mounted.ts';
import { h } from 'preact';
import { expect, it } from 'vitest';
import { KeyLink } from './refs.tsx';

inBrowser();

it.each([
  ['Deployment/shop/web', '#/workloads/Deployment/shop/web', 'Deployment shop/web'],
  ['3f9a0c77d1 Deployment/shop/web', '#/workloads/Deployment/shop/web', '3f9a0c77d1 Deployment shop/web'],
  ['reloads:42 Secret/shop/db', '#/sources/Secret/shop/db', 'reloads:42 Secret shop/db'],
])('links the object of %j', async (of, href, shown) => {
  await mount(h(KeyLink, { of }));
  expect(find('a').attributes.get('href')).toBe(href);
  expect(text()).toBe(shown);
});

it.each(['Namespace/shop', 'every workload', '/workloads/Deployment/shop/web/freeze'])(
  'has no link for %j',
  async (of) => {
    await mount(h(KeyLink, { of }));
    expect(() => find('a')).toThrow('no a');
    expect(text()).toBe(of);
  },
);
