import { HistoryJoin } from '@reroll/core/history/join';
import { inStep, reloaded, WEB } from '@reroll/core/testing/history';
import { expect, it } from 'vitest';
import { isStale } from './stale.ts';

it('only the sources that it was adopted with are stale, until a reload replaces all pods', () => {
  const join = new HistoryJoin();
  const stale = (): boolean[] =>
    (['ConfigMap/cm', 'Secret/db'] as const).map((name) => isStale(join.workload(WEB)?.outcomes ?? [], name));
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
