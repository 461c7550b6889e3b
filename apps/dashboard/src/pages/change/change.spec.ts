import { inBrowser, mount, requests, text } from '../../testing/mounted.ts';
import { h } from 'preact';
import { expect, it } from 'vitest';
import { Change } from './change.tsx';

inBrowser();

const CHANGE = {
  source: null,
  cause: 'manual',
  request: { actor: 'ann', reason: 'r' },
  seenAt: '2026-01-01T00:00:00Z',
  takenUpAt: null,
  from: null,
  to: null,
  overtaken: false,
  workloads: [],
};

it.each([
  [1, '1 earlier change that', '1 more was not reloaded'],
  [2, '2 earlier changes that', '2 more were not reloaded'],
])('a change that merged %d others says: %s', async (count, merged, leftAlone) => {
  await mount(h(Change, { id: '1-1' }));
  const { answer } = requests.find(({ path }) => path === '/changes/1-1') ?? expect.fail();
  await answer({ ...CHANGE, merged: count, more: { woken: 0, leftAlone: count } });
  expect(text()).toContain(merged);
  expect(text()).toContain(leftAlone);
});

it.each([
  [false, 1],
  [true, 0],
])(
  'the waves of the present data are not those of a change that was overtaken: %j',
  async (overtaken, asked) => {
    const source = { kind: 'Secret', namespace: 'shop', name: 'db' };
    await mount(h(Change, { id: '1-1' }));
    const { answer } = requests.find(({ path }) => path === '/changes/1-1') ?? expect.fail();
    await answer({ ...CHANGE, source, cause: 'updated', request: null, to: 'same', overtaken });
    expect(requests.filter(({ path }) => path.endsWith('/waves'))).toHaveLength(asked);
  },
);
