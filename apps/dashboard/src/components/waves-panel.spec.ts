import { inBrowser, mount, text } from '../testing/mounted.ts';
import { h } from 'preact';
import { expect, it } from 'vitest';
import type { Waves } from '@reroll/shared/api/waves';
import { CallError } from '../api/client.ts';
import { WavesPanel } from './waves-panel.tsx';

inBrowser();

const SOURCE = { kind: 'Secret', namespace: 'shop', name: 'db' };
const WAVES: Waves = {
  hash: 'new',
  waves: '1,100%',
  bake: null,
  plan: [],
  problem: null,
  halted: null,
  resumed: false,
};
const refresh = (): void => undefined;

it.each([
  ['are told to be old if there is no newer answer', WAVES],
  ['are not shown if there is no answer', undefined],
])('waves %s', async (_, data) => {
  const knownAt = data && new Date();
  const error = new CallError(503, { title: 'Unavailable' });
  await mount(h(WavesPanel, { of: SOURCE, answer: { data, knownAt, error, refresh } }));
  expect(text()).toContain('Unavailable.');
  expect(text().includes('What is shown is from')).toBe(data !== undefined);
  expect(text().includes('1,100%')).toBe(data !== undefined);
});

it('nothing is said of a source that has gone', async () => {
  const answer = { data: undefined, knownAt: undefined, error: new CallError(404, {}), refresh };
  await mount(h(WavesPanel, { of: SOURCE, answer }));
  expect(text()).toBe('');
});
