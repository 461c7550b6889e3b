import { HistoryJoin } from '@reroll/core/history/join';
import { liveState, stateOf, type LiveJob } from '@reroll/core/history/states';
import { changed, inStep, reloaded } from '@reroll/core/testing/history';
import { historyEntry } from '@reroll/shared/api/workloads';
import { change as changeShape, changeSummary as shape } from '@reroll/shared/api/changes';
import { expect, it } from 'vitest';
import type { ShownHashes } from '../shown-hashes.ts';
import type { Live } from './live-states.ts';
import { changeSummary, changeView, holdView, outcomeEvent, outcomeView } from './views.ts';

const hashes = { shown: () => 'shown' } as unknown as ShownHashes;
const request = { id: '1000-a', actor: 'ann', reason: 'a test' };

const JOB: LiveJob = { id: '7', state: 'delayed', until: 9000, made: 0, most: 5, isHeld: true };

function liveBy(join: HistoryJoin, job: LiveJob): Live {
  return {
    stateOf: (pair) => liveState(pair, { job, now: 2000 }),
    jobOf: () => job,
    rolloutOf: () => undefined,
    latestOf: (workload) => join.workload(workload)?.outcomes.at(-1),
  };
}

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

it('the outcome of a change that somebody asked to apply says who', () => {
  const join = new HistoryJoin();
  join.addChange('1000-0', changed(1000));
  const outcome = join.addOutcome('1000-0', reloaded(1000, { request }));
  expect(outcome && outcomeView(outcome)).toMatchObject({
    source: { name: 'cm' },
    request: { actor: 'ann', reason: 'a test' },
  });
});

it('the event of an outcome names every change that it is for, with its state, up to a bound', () => {
  const eventFor = (count: number) => {
    const join = new HistoryJoin();
    for (let at = 0; at < count; at += 1)
      join.addChange(`${1000 + at}-0`, changed(1000 + at, { source: `ConfigMap/shop/c${at}` }));
    const sources = Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`ConfigMap/c${at}`, at === 1 ? 'Correct' : 'Roll']),
    );
    const rolled = Object.keys(sources).filter((name) => sources[name] === 'Roll');
    const outcome = join.addOutcome('5000-0', reloaded(5000, { sources, rolled }));
    return outcome && historyEntry.parse(outcomeEvent(outcome));
  };
  expect(eventFor(1)).toMatchObject({ change: '1000-0' });
  expect(eventFor(1)).not.toHaveProperty('otherChanges');
  expect(eventFor(3)).toMatchObject({
    change: '1000-0',
    otherChanges: [
      { change: '1001-0', state: 'recorded' },
      { change: '1002-0', state: 'reloaded' },
    ],
  });
  expect(eventFor(200)?.otherChanges).toHaveLength(20);
});

it('an outcome names the change that caused it, although the record was corrected for an earlier one', () => {
  const join = new HistoryJoin();
  join.addChange('1000-0', changed(1000, { source: 'ConfigMap/shop/brought', cause: 'created' }));
  join.addChange('1001-0', changed(1001));
  const sources = { 'ConfigMap/brought': 'Correct', 'ConfigMap/cm': 'Roll' };
  const outcome = join.addOutcome('5000-0', reloaded(5000, { sources }));
  const told = { change: '1001-0', source: { name: 'cm' }, cause: 'updated', state: 'reloaded' };
  expect(outcome && outcomeView(outcome)).toMatchObject(told);
  const otherChanges = [{ change: '1000-0', state: 'recorded' }];
  expect(outcome && outcomeEvent(outcome)).toMatchObject({ ...told, otherChanges });
  join.dropChanges('1002-0', { id: '1001-0', share: 'shop' });
  const left = { change: null, source: { name: 'cm' }, cause: null, otherChanges };
  expect(outcome && outcomeEvent(outcome)).toMatchObject(left);
});

it('changes of a workload that waits for a worker with the hash key say so, and so does the workload', () => {
  const join = new HistoryJoin();
  const first = join.addChange('1000-0', changed(1000));
  const sources = { 'ConfigMap/cm': 'KeyUnknown' };
  join.addOutcome('1000-0', inStep(1000, { reason: 'KeyUnknown', sources, detail: 'no key' }));
  const second = join.addChange('2000-0', changed(2000, { source: 'ConfigMap/shop/other' }));
  const live = liveBy(join, { ...JOB, isHeld: false });
  const shown = [first, second].map(
    (change) => change && changeView(change, { hashes, live, join, counted: undefined }),
  );
  const [of] = shown.map((each) => changeShape.parse(each).workloads);
  expect(of).toMatchObject([{ state: 'delayed', outcome: 'KeyUnknown', detail: 'no key' }]);
  expect(shown[1]?.workloads).toMatchObject(
    of?.map(({ state, outcome, detail }) => ({ state, outcome, detail })) ?? [],
  );
  const [latest] = join.outcomes;
  expect([holdView(latest), latest && outcomeView(latest).state]).toEqual([
    { reason: 'KeyUnknown', detail: 'no key', id: null },
    'delayed',
  ]);
  join.addOutcome('3000-0', reloaded(1000));
  expect(holdView(join.outcomes.at(-1))).toBeNull();
  expect(first && changeView(first, { hashes, live, join, counted: undefined }).workloads[0]?.state).toBe(
    'reloaded',
  );
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
  const live = liveBy(join, JOB);
  const shown = changeShape.parse(changeView(change, { hashes, live, join, counted: undefined }));
  expect(shown.workloads).toMatchObject([{ state: 'held', outcome: 'Frozen', detail: 'year-end' }]);
});

it('a change is overtaken once the source had other data, also if it has the same again', () => {
  const join = new HistoryJoin();
  for (const [at, hash, more] of [
    [1000, 'a', {}],
    [2000, 'a', { cause: 'repeated' }],
    [3000, 'b', {}],
    [4000, 'a', {}],
    [5000, 'c', { source: 'ConfigMap/shop/other' }],
  ] as const)
    join.addChange(`${at}-0`, changed(at, { hash, ...more }));
  const live = liveBy(join, JOB);
  const shown = join.changes.map((change) =>
    changeShape.parse(changeView(change, { hashes, live, join, counted: undefined })),
  );
  expect(shown.map(({ overtaken }) => overtaken)).toEqual([true, true, true, false, false]);
});
