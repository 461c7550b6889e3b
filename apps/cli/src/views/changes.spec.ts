import { expect, it } from 'vitest';
import { changeSummary, changeWorkload, WEB } from '../testing/answers.ts';
import { changeNamespace, sourceText, workloadDetail } from './changes.ts';

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
