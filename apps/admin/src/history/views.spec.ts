import { HistoryJoin, type Pair } from '@reroll/core/history/join';
import { liveState, stateOf, type LiveJob } from '@reroll/core/history/states';
import type { WorkloadKey } from '@reroll/core/model';
import { changed, inStep } from '@reroll/core/testing/history';
import { change as changeShape, changeSummary as shape } from '@reroll/shared/api/changes';
import { expect, it } from 'vitest';
import type { ShownHashes } from '../shown-hashes.ts';
import { changeSummary, changeView } from './views.ts';

const hashes = { shown: () => 'shown' } as unknown as ShownHashes;
const request = { id: '1000-a', actor: 'ann', reason: 'a test' };

it('a manual reload says of what, and a change of a source does not', () => {
  const join = new HistoryJoin();
  join.addChange('1000-0', changed(1000, { source: null, cause: 'manual', request }));
  join.addChange('2000-0', changed(2000));
  const shown = join.changes.map((change) => shape.parse(changeSummary(change, { hashes, stateOf })));
  expect(shown.map(({ workload }) => workload)).toEqual([
    { kind: 'Deployment', namespace: 'shop', name: 'web' },
    undefined,
  ]);
});

it.each([
  ['changes', { source: 'ConfigMap/shop/other' } as const],
  ['requests of a reload', { source: null, cause: 'manual', request } as const],
])('later %s of a held workload say what holds it, which was reported before', (_, later) => {
  const join = new HistoryJoin();
  join.addChange('1000-0', changed(1000));
  join.addOutcome('1000-0', inStep(1000, { reason: 'Frozen', detail: 'year-end' }));
  const change = join.addChange('2000-0', changed(2000, later));
  if (!change) throw new Error('expected a change');
  const job: LiveJob = { id: '7', state: 'delayed', until: 9000, made: 0, most: 5, isHeld: true };
  const live = {
    stateOf: (pair: Pair) => liveState(pair, { job, now: 2000 }),
    jobOf: () => job,
    rolloutOf: () => undefined,
    latestOf: (workload: WorkloadKey) => join.workload(workload)?.outcomes.at(-1),
  };
  const shown = changeShape.parse(changeView(change, { hashes, live, counted: undefined }));
  expect(shown.workloads).toMatchObject([{ state: 'held', outcome: 'Frozen', detail: 'year-end' }]);
});
