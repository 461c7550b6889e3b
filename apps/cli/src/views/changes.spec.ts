import type { Waves } from '@reroll/shared/api/waves';
import { describe, expect, it } from 'vitest';
import { changeSummary, changeWorkload, WEB } from '../testing/answers.ts';
import { changeNamespace, sourceText, workloadDetail } from './changes.ts';
import { wavesText } from './waves.ts';

const MANUAL = changeSummary({ source: null, cause: 'manual', request: { actor: 'ann', reason: 'a test' } });

it.each([
  ['of a source', changeSummary(), ['shop', 'secret/db']],
  ['by hand', { ...MANUAL, workload: WEB }, ['shop', 'deployment/web (requested by ann)']],
  ['by hand, from an older admin', MANUAL, ['', '(requested by ann)']],
])('a change %s says of what', (_name, change, told) => {
  expect([changeNamespace(change), sourceText(change)]).toEqual(told);
});

it.each([
  ['the debounce', { outcome: null }, 'in 5s'],
  ['a worker with the hash key', { outcome: 'KeyUnknown', detail: 'no key' }, 'no key'],
] as const)('a workload that is delayed for %s says so', (_name, more, told) => {
  const until = '2026-11-21T15:00:05.000Z';
  const each = changeWorkload('delayed', { until, ...more });
  expect(workloadDetail(each, Date.parse('2026-11-21T15:00:00.000Z'))).toBe(told);
});

describe('a workload that awaits its wave', () => {
  type Plan = NonNullable<Waves['plan']>;
  const wave = (name: string, state: Plan[number]['state'], detail: string): Plan[number] => ({
    state,
    until: null,
    size: 1,
    reloaded: 1,
    workloads: [{ workload: { ...WEB, name }, reloaded: state !== 'waiting', detail }],
  });
  const wavesOf = (...plan: Plan): Waves => ({
    hash: '1.a',
    waves: '1,2',
    bake: null,
    problem: null,
    halted: null,
    resumed: false,
    plan,
  });
  const web = changeWorkload('held', { outcome: 'AwaitsWave', detail: 'it waited for another' });
  const last = wave('web', 'waiting', 'is not reloaded yet');

  it.each<[string, Waves, string]>([
    [
      'for one that is rolling out',
      wavesOf(wave('a', 'done', 'is complete'), wave('b', 'underWay', 'is rolling out'), last),
      'wave 3 waits for wave 2, in which deployment/b is rolling out',
    ],
    [
      'for a bake time',
      wavesOf(wave('a', 'baking', 'is complete'), last),
      'wave 2 waits for wave 1, which is observed for its bake time',
    ],
    [
      'no more',
      wavesOf(wave('a', 'done', 'is complete'), { ...last, state: 'underWay' }),
      'wave 2 has begun',
    ],
    ['as the history says, if it is not listed', wavesOf(wave('a', 'done', '')), 'it waited for another'],
  ])('waits %s', (_for, waves, told) => {
    expect(workloadDetail(web, 0, waves)).toBe(told);
  });

  it('is told what the wave before waits for', () => {
    const waves = wavesOf(wave('a', 'failed', 'is stuck (X)'), wave('b', 'underWay', 'is rolling out'), last);
    const text = wavesText(waves, { now: 0, paint: (shown) => shown });
    expect(text.split('\n').map((line) => line.split(/ {2,}/).at(-1))).toEqual([
      'WAITS FOR',
      '<none>',
      'deployment/b, which is rolling out',
      'wave 2',
      '',
    ]);
  });
});
