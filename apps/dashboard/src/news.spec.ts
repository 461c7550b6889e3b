import { expect, it } from 'vitest';
import { isShownIn } from './news.ts';
import type { LiveEvent } from './state/live.ts';

const web = { kind: 'Deployment', namespace: 'shop', name: 'web' };
const event = (name: string, data: unknown): LiveEvent => ({ name, data }) as LiveEvent;

it.each([
  ['a change of a source', event('change', { source: { ...web, kind: 'Secret' } })],
  ['a reload that was requested', event('change', { source: null, workload: web })],
  ['an outcome', event('outcome', { workload: web })],
  ['a rollout', event('rollout', { workload: web })],
  ['a write', event('audit', { target: 'Deployment/shop/web' })],
])('%s is shown in its namespace and in all, not in another', (_, given) => {
  expect(['', 'shop', 'bank'].map((namespace) => isShownIn(namespace, given))).toEqual([true, true, false]);
});

it('what is of no namespace is shown in each', () => {
  expect(isShownIn('shop', event('audit', { target: 'reloads' }))).toBe(true);
});
