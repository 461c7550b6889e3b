import { find, findAll, inBrowser, mount, requests, text } from '../../testing/mounted.ts';
import { h } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parseRoute, route } from '../../router.ts';
import { localTime } from '../../time.ts';
import { Preview } from './preview.tsx';

inBrowser();

afterEach(() => void vi.unstubAllGlobals());
const replaceState = vi.fn();
beforeEach(() => {
  replaceState.mockClear();
  vi.stubGlobal('history', { replaceState });
});

it('the address has what was asked about, so that it can be shared and the Back button leads to it', async () => {
  route.value = parseRoute('#/preview?namespace=shop');
  await mount(h(Preview, {}));
  await find('input', '', find('label', 'Source').attributes.get('for')).fire('input', 'Secret/shop/db');
  expect(replaceState).not.toHaveBeenCalled();
  await find('form').fire('submit');
  const href = '#/preview?namespace=shop&of=source&source=Secret%2Fshop%2Fdb';
  expect(replaceState.mock.calls).toEqual([[null, '', href]]);
});

it('shows the preview that was asked for last, in whatever order answers come', async () => {
  route.value = parseRoute('#/preview?source=Secret/shop/db');
  await mount(h(Preview, {}));
  for (let count = 0; count < 3; count += 1) await find('form').fire('submit');
  expect(requests.map(({ path }) => path)).toEqual(['/preview', '/preview', '/preview']);
  await requests[2]?.answer({ conclusion: 'of the last', verdicts: [], today: [] });
  await requests[0]?.answer({ conclusion: 'of the first', verdicts: [], today: [] });
  await requests[1]?.answer({ title: 'A failure' }, 500);
  expect(text()).toContain('of the last');
  expect(text()).not.toMatch(/of the first|A failure/);
});

it('does not show the result of one preview for another', async () => {
  route.value = parseRoute('#/preview?source=Secret/shop/db');
  await mount(h(Preview, {}));
  await find('form').fire('submit');
  await requests[0]?.answer({ conclusion: 'nothing reloads', verdicts: [], today: [] });
  expect(text()).toContain('nothing reloads');
  route.value = parseRoute('#/preview?source=Secret/shop/other');
  await mount(h(Preview, {}));
  expect(text()).not.toContain('nothing reloads');
});

it('shows no answer to another question than the one in the form', async () => {
  route.value = parseRoute('#/preview?source=Secret/shop/db');
  await mount(h(Preview, {}));
  await find('form').fire('submit');
  expect(text()).toContain('Loading the preview…');
  await requests[0]?.answer({ conclusion: 'of the first', verdicts: [], today: [] });
  expect(text()).toContain('of the first');
  await find('form').fire('submit');
  expect(text()).not.toContain('of the first');
  await find('input', '', find('label', 'Source').attributes.get('for')).fire('input', 'Secret/shop/other');
  expect(text()).not.toContain('Loading');
  await requests[1]?.answer({ conclusion: 'of the second', verdicts: [], today: [] });
  expect(text()).not.toContain('of the second');
});

it.each([
  ['source', 'reloader.stakater.com/match: "true"'],
  ['workload', 'reloader.stakater.com/auto: "true"'],
])('the example of annotations of a %s is one that counts there', async (of, example) => {
  route.value = parseRoute(`#/preview?of=${of}`);
  await mount(h(Preview, {}));
  expect(find('textarea').attributes.get('placeholder')).toBe(example);
});

it('says in words what holds a reload now, and until when', async () => {
  route.value = parseRoute('#/preview?source=Secret/shop/db');
  await mount(h(Preview, {}));
  await find('form').fire('submit');
  const until = '2026-12-31T13:18:17.404Z';
  const verdict = {
    workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
    source: { kind: 'Secret', namespace: 'shop', name: 'db' },
    reloads: true,
    reason: 'NamedInAnnotation',
    detail: 'it is named',
    wave: null,
    held: { reason: 'Frozen', until, detail: `the namespace is frozen until ${until}: a release` },
  };
  const verdicts = [verdict, { ...verdict, workload: { ...verdict.workload, name: 'api' }, held: null }];
  await requests[0]?.answer({ conclusion: 'two reload', verdicts, today: [] });
  const time = localTime(new Date(until), new Date());
  const cells = findAll('td').filter(({ attributes }) => attributes.get('data-label') === 'Held now');
  expect(cells.map(({ textContent }) => textContent)).toEqual([
    `The namespace is frozen until ${time}: a release Frozen`,
    '',
  ]);
});
