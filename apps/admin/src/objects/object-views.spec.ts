import { HistoryJoin } from '@reroll/core/history/join';
import { inStep, reloaded, WEB } from '@reroll/core/testing/history';
import { workloadRow } from '@reroll/core/testing/rows';
import { workloadSummary as shape } from '@reroll/shared/api/workloads';
import { expect, it } from 'vitest';
import { listed } from './object-lists.ts';
import { workloadSummary } from './object-views.ts';

it('a workload in a list says what holds its reload, until there is another outcome', () => {
  const join = new HistoryJoin();
  const summary = () =>
    shape.parse(
      workloadSummary(listed({ key: WEB, row: workloadRow(), due: 'owed', rollout: undefined }), join),
    ).hold;
  expect(summary()).toBeNull();
  join.addOutcome('1000-0', inStep(1000, { reason: 'Frozen', detail: 'year-end' }));
  expect(summary()).toEqual({ reason: 'Frozen', detail: 'year-end', id: null });
  join.addOutcome('2000-0', reloaded(1000));
  expect(summary()).toBeNull();
});
