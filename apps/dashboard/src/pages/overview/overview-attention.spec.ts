import { find, findAll, inBrowser, mount } from '../../testing/mounted.ts';
import { h } from 'preact';
import { afterEach, expect, it } from 'vitest';
import { parseRoute, route } from '../../router.ts';
import type { AttentionItem } from './attention-items.ts';
import { Attention } from './overview-attention.tsx';

afterEach(() => void (route.value = parseRoute('')));
inBrowser();

const ITEMS = (['stuck', 'failed', 'held', 'held'] as const).map((problem, at): AttentionItem => {
  const subject = { kind: 'Deployment', namespace: 'shop', name: `w-${at}` };
  return { key: `${at}`, problem, subject, since: null, why: 'why' };
});

it.each([
  ['', 'Needs attention', ['w-0', 'w-1', 'w-2', 'w-3']],
  ['?problem=held', 'Needs attention: held', ['w-2', 'w-3']],
  // It has been settled meanwhile.
  ['?problem=halted', 'Needs attention', ['w-0', 'w-1', 'w-2', 'w-3']],
])('the overview %s lists under "%s": %s', async (query, title, names) => {
  route.value = parseRoute(`#/${query}`);
  await mount(h(Attention, { items: ITEMS }));
  expect(find('h2').textContent).toBe(title);
  expect(findAll('li').map((each) => /w-\d/.exec(each.textContent)?.[0])).toEqual(names);
});

it('everything that needs attention is one link away, and the namespace stays', async () => {
  route.value = parseRoute('#/?namespace=shop&problem=stuck');
  await mount(h(Attention, { items: ITEMS }));
  expect(find('a', 'Everything that needs attention').attributes.get('href')).toBe('#/?namespace=shop');
});
