import { expect, it } from 'vitest';
import { convergenceConclusion, type JudgedUse } from './conclusion.ts';

const use = (pod: string, state: JudgedUse['state'], more: Partial<JudgedUse> = {}): JudgedUse => ({
  pod,
  container: 'app',
  use: 'env',
  state,
  why: 'nothing tells when it started',
  ...more,
});

it.each<[JudgedUse[], boolean, string]>([
  [[], true, 'Nobody: no running container uses it.'],
  [[use('a', 'current')], true, 'Nobody: 1 container of 1 pod has the current data.'],
  [
    [use('a', 'current'), use('a', 'current', { use: 'volume' }), use('b', 'current')],
    true,
    'Nobody: 2 containers of 2 pods have the current data.',
  ],
  [[use('a', 'stale'), use('b', 'current')], true, '1 container of 1 pod still does.'],
  [[use('a', 'stale'), use('a', 'stale', { container: 'b' })], true, '2 containers of 1 pod still do.'],
  [
    [use('a', 'stale'), use('b', 'unknown')],
    true,
    '1 container of 1 pod still does. Of 1 container of 1 pod it is not known.',
  ],
  [[use('a', 'stale')], false, '1 container of 1 pod still does. Not every pod was looked at.'],
  [
    [use('a', 'unknown'), use('b', 'unknown'), use('c', 'current')],
    true,
    'It is not known of 2 containers of 2 pods: nothing tells when it started.',
  ],
  [
    [use('a', 'unknown'), use('b', 'unknown', { why: 'you may not read the source' })],
    false,
    'It is not known of 2 containers of 2 pods: for several reasons. Not every pod was looked at.',
  ],
  [
    [use('a', 'current')],
    false,
    'It is not known: not every pod was looked at. Those that were have the current data.',
  ],
  [[], false, 'It is not known: not every pod was looked at. Those that were have the current data.'],
])('of %j, complete %j: %s', (uses, isComplete, expected) => {
  expect(convergenceConclusion(uses, isComplete)).toBe(expected);
});
