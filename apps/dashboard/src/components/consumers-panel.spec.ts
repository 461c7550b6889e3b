import { find, inBrowser, mount, requests, text } from '../testing/mounted.ts';
import { h } from 'preact';
import { expect, it } from 'vitest';
import { ConsumersPanel } from './consumers-panel.tsx';

inBrowser();

it.each([
  [1, '1 further use of it is not listed.'],
  [2, '2 further uses of it are not listed.'],
])('of %d uses that are not listed it says: %s', async (current, expected) => {
  const source = { kind: 'Secret', namespace: 'shop', name: 'db' };
  await mount(h(ConsumersPanel, { of: source }));
  await find('button', 'Check').fire('click');
  const counts = { stale: 0, unknown: 0, current };
  await requests.at(-1)?.answer({ source, conclusion: '', items: [], counts });
  expect(text()).toContain(expected);
});
