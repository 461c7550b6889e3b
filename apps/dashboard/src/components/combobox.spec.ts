import { find, findAll, inBrowser, mount, requests } from '../testing/mounted.ts';
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { expect, it, vi } from 'vitest';
import { Combobox } from './combobox.tsx';

inBrowser();

/** A form that knows what is typed. */
function Field(): JSX.Element {
  const [value, setValue] = useState('');
  return h(Combobox, { id: 'field', of: 'source', placeholder: '', value, onText: setValue });
}

it('a field suggests while its form follows what is typed, and takes what is chosen', async () => {
  await mount(h(Field, {}));
  const field = find('input');
  await field.press('ArrowDown');
  expect(requests).toEqual([]);
  await field.fire('input', 'd');
  await vi.advanceTimersByTimeAsync(300);
  expect(requests.map(({ path }) => path)).toEqual(['/sources?name=d&limit=20']);
  await requests[0]?.answer({ items: [{ kind: 'Secret', namespace: 'shop', name: 'db' }], next: null });
  await find('li', 'Secret shop/db').fire('click');
  expect([field.value, findAll('li')]).toEqual(['Secret/shop/db', []]);
});
