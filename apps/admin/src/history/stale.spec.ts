import { HistoryJoin } from '@reroll/core/history/join';
import { inStep, reloaded, WEB } from '@reroll/core/testing/history';
import { expect, it } from 'vitest';
import { isStale, staleSources } from './stale.ts';

it('only the sources that it was adopted with are stale, until a reload replaces all pods', () => {
  const join = new HistoryJoin();
  const stale = (): boolean[] =>
    ['ConfigMap/cm', 'Secret/db'].map((name) => staleSources(join.workload(WEB)?.outcomes ?? []).has(name));
  const sources = { 'ConfigMap/cm': 'AdoptStale', 'Secret/db': 'Adopt' };
  join.addOutcome('1000-0', inStep(1000, { state: 'recorded', reason: 'StaleAtAdoption', sources }));
  expect(stale()).toEqual([true, false]);
  join.addOutcome('2000-0', inStep(2000));
  expect(stale()).toEqual([true, false]);
  join.addOutcome(
    '3000-0',
    reloaded(3000, { sources: { 'Secret/db': 'Roll', 'ConfigMap/cm': 'AdoptStale' } }),
  );
  expect(stale()).toEqual([false, false]);
});

it.each([
  [
    'its owner replaced its pods, and brought data to them',
    { reason: 'BroughtByOwner', sources: { 'Secret/db': 'Correct' } },
    false,
  ],
  [
    'it was created again',
    { reason: 'Adopted', sources: { 'ConfigMap/cm': 'Adopt', 'Secret/db': 'Adopt' } },
    false,
  ],
  [
    'it has one more source',
    { reason: 'Adopted', sources: { 'ConfigMap/cm': 'InStep', 'Secret/db': 'Adopt' } },
    true,
  ],
  [
    'there are sources that its history does not name',
    { reason: 'Adopted', sources: { 'Secret/db': 'Adopt' }, omitted: 1 },
    true,
  ],
  ['it has no sources any more', { reason: 'RecordRewritten', sources: {} }, true],
] as const)('a workload that was stale at adoption is no more, or still is, once %s', (_, more, expected) => {
  const join = new HistoryJoin();
  const sources = { 'ConfigMap/cm': 'AdoptStale' };
  join.addOutcome('1000-0', inStep(1000, { state: 'recorded', reason: 'StaleAtAdoption', sources }));
  join.addOutcome('2000-0', inStep(2000, { state: 'recorded', ...more }));
  const outcomes = join.workload(WEB)?.outcomes ?? [];
  expect([isStale(outcomes), staleSources(outcomes).has('ConfigMap/cm')]).toEqual([expected, expected]);
});
