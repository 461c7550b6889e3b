import { HistoryJoin } from '@reroll/core/history/join';
import type { LiveJob } from '@reroll/core/history/states';
import type { WorkloadKey } from '@reroll/core/model';
import { changed, inStep, reloaded, retrying, rollout, WEB } from '@reroll/core/testing/history';
import { EXPLAIN_SETTINGS } from '@reroll/core/testing/explaining';
import { sourceRow, workloadRow } from '@reroll/core/testing/rows';
import { workloadSummary as shape } from '@reroll/shared/api/workloads';
import { expect, it, vi } from 'vitest';
import { listed } from './object-lists.ts';
import { annotationsView, dependencySteps, workloadSummary } from './object-views.ts';

const REQUEST = { id: '1', actor: 'ann', reason: 'r' };
const JOB = { id: '1', state: 'waiting', until: null, made: 0, most: 5 } as const;

it('a workload in a list says what holds its reload, until there is another outcome', () => {
  const join = new HistoryJoin();
  const summary = () =>
    shape.parse(
      workloadSummary(listed({ key: WEB, row: workloadRow(), due: 'owed', rollout: undefined }), {
        join,
        jobs: new Map(),
      }),
    ).hold;
  expect(summary()).toBeNull();
  join.addOutcome('1000-0', inStep(1000, { reason: 'Frozen', detail: 'year-end' }));
  expect(summary()).toEqual({ reason: 'Frozen', detail: 'year-end', id: null });
  join.addOutcome('2000-0', reloaded(1000));
  expect(summary()).toBeNull();
});

it.each([
  ['Frozen', 'owed', undefined, 'Frozen'],
  ['Frozen', 'correct', undefined, undefined],
  ['Frozen', null, undefined, undefined],
  ['Frozen', null, REQUEST, 'Frozen'],
  ['KeyUnknown', 'correct', undefined, 'KeyUnknown'],
  ['KeyUnknown', null, undefined, undefined],
] as const)(
  'a hold that was told (%s) is one while that is pending: %s, request %j',
  (reason, due, request, told) => {
    const join = new HistoryJoin();
    join.addOutcome('1000-0', inStep(1000, { reason, request }));
    const found = listed({ key: WEB, row: workloadRow(), due, rollout: undefined });
    expect(workloadSummary(found, { join, jobs: new Map() }).hold?.reason).toBe(told);
  },
);

it.each([
  ['nothing', [], undefined, 'owed', null],
  ['a failure', ['failed'], undefined, 'owed', 'failed'],
  ['a failure of what is not pending any more', ['failed'], undefined, null, null],
  ['a failure of a correction', ['failed'], undefined, 'correct', 'failed'],
  ['a failure, and a new job', ['failed'], JOB, 'owed', null],
  ['a failure, and a job that only looks again', ['failed'], { ...JOB, isHeld: true }, 'owed', 'failed'],
  ['a failure that is tried again', ['retrying'], JOB, 'owed', 'retrying'],
  ['a later success', ['failed', 'reloaded'], undefined, 'owed', null],
] as const)(
  'a workload in a list says how the last attempt at its reload ended, after %s',
  (_, states, job, due, expected) => {
    const join = new HistoryJoin();
    states.forEach((state, at) => join.addOutcome(`${at + 1}000-0`, retrying(1000, { state })));
    const jobs = new Map<WorkloadKey, LiveJob>(job ? [[WEB, job]] : []);
    const found = listed({ key: WEB, row: workloadRow(), due, rollout: undefined });
    expect(shape.parse(workloadSummary(found, { join, jobs })).lastAttempt?.state ?? null).toBe(expected);
  },
);

const adopted = (sources: Record<string, string> = {}) =>
  inStep(2000, { state: 'recorded', reason: 'Adopted', sources: { ...sources, 'Secret/db': 'Adopt' } });

it.each([
  ['', [], undefined, 'failed'],
  [', and a correction of the record', [inStep(2000, { state: 'recorded' })], undefined, 'failed'],
  [', and the adoption of a further source', [adopted({ 'ConfigMap/cm': 'InStep' })], undefined, 'failed'],
  [', and the adoption of another workload with its name', [adopted()], undefined, null],
  [', and a reload', [reloaded(2000)], undefined, null],
  [', and another that is tried again', [retrying(2000, { request: REQUEST })], JOB, 'retrying'],
  [', and a job with nothing to do', [inStep(2000)], undefined, 'failed'],
  [', and a new job', [], JOB, null],
] as const)('a workload in a list tells that a manual reload failed%s', (_, later, job, expected) => {
  const join = new HistoryJoin();
  join.addOutcome('1000-0', retrying(1000, { state: 'failed', request: REQUEST }));
  for (const outcome of later) join.addOutcome(`${outcome.at}-0`, outcome);
  const jobs = new Map<WorkloadKey, LiveJob>(job ? [[WEB, job]] : []);
  const found = listed({ key: WEB, row: workloadRow(), due: null, rollout: undefined });
  expect(shape.parse(workloadSummary(found, { join, jobs })).lastAttempt?.state ?? null).toBe(expected);
});

it.each([
  ['it is told while that is pending', 'owed', undefined, null],
  ['the failure is told once only a correction is pending', 'correct', undefined, 'failed'],
  ['the failure is told once nothing is pending', null, undefined, 'failed'],
  ['it is told if it is of a later manual reload', null, REQUEST, null],
] as const)('a manual reload failed, and a later reload is held: %s', (_, due, request, expected) => {
  const join = new HistoryJoin();
  join.addOutcome('1000-0', retrying(1000, { state: 'failed', request: REQUEST }));
  join.addOutcome('2000-0', inStep(2000, { reason: 'Frozen', request }));
  const found = listed({ key: WEB, row: workloadRow(), due, rollout: undefined });
  expect(workloadSummary(found, { join, jobs: new Map() }).lastAttempt?.state ?? null).toBe(expected);
});

it('a workload in a list says that it is stale since adoption, until Reroll reloads it', () => {
  const join = new HistoryJoin();
  const isStale = () =>
    shape.parse(
      workloadSummary(listed({ key: WEB, row: workloadRow(), due: null, rollout: undefined }), {
        join,
        jobs: new Map(),
      }),
    ).stale;
  expect(isStale()).toBe(false);
  join.addOutcome('1000-0', inStep(1000, { state: 'recorded', reason: 'StaleAtAdoption' }));
  join.addOutcome('2000-0', inStep(2000));
  expect(isStale()).toBe(true);
  join.addOutcome('3000-0', reloaded(3000));
  expect(isStale()).toBe(false);
});

it('the last reload names the change that caused it, although the record was corrected for an earlier one', () => {
  const join = new HistoryJoin();
  join.addChange('1000-0', changed(1000, { source: 'ConfigMap/shop/brought' }));
  join.addChange('1001-0', changed(1001));
  const sources = { 'ConfigMap/brought': 'Correct', 'ConfigMap/cm': 'Roll' };
  join.addOutcome('5000-0', reloaded(5000, { sources }));
  const found = listed({ key: WEB, row: workloadRow(), due: null, rollout: undefined });
  expect(workloadSummary(found, { join, jobs: new Map() }).lastReload?.change).toBe('1001-0');
});

it('the last reload names the sources that its rollout is for, until that is complete', () => {
  const join = new HistoryJoin();
  const rolled = () =>
    shape.parse(
      workloadSummary(listed({ key: WEB, row: workloadRow(), due: null, rollout: undefined }), {
        join,
        jobs: new Map(),
      }),
    ).lastReload?.rolled;
  join.addOutcome('1000-0', reloaded(1000, { generation: 2, rolled: ['Secret/db'] }));
  join.addRollout('1001-0', rollout(2, { state: 'stuck' }));
  expect(rolled()).toEqual(['Secret/db']);
  join.addRollout('1002-0', rollout(2, { state: 'complete' }));
  expect(rolled()).toEqual([]);
  // The owner deploys an image that does not exist.
  join.addRollout('9000-0', rollout(3, { state: 'stuck' }));
  expect(rolled()).toEqual([]);
});

it('the history of a workload is read once for all its sources, which are each stale or not', () => {
  const join = new HistoryJoin();
  const sources = { 'ConfigMap/a': 'AdoptStale', 'ConfigMap/b': 'Adopt' };
  join.addOutcome('1000-0', inStep(1000, { state: 'recorded', reason: 'StaleAtAdoption', sources }));
  const reads = vi.spyOn(join, 'workload');
  const workload = { key: WEB, row: workloadRow({ dependencies: ['ConfigMap/a', 'ConfigMap/b'] }) } as const;
  const pairs = (['a', 'b'] as const).map((name) => ({
    workload,
    source: { key: `ConfigMap/shop/${name}`, row: sourceRow(5, 'hash') } as const,
  }));
  const by = { settings: EXPLAIN_SETTINGS, shown: () => '', join };
  const steps = dependencySteps(pairs, (_, { stale }) => stale, by);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  expect(step.value).toEqual([true, false]);
  expect(reads).toHaveBeenCalledTimes(1);
});

it('annotations without their lists say which limit those exceed', () => {
  const excess = { limit: 'listWords', key: 'a/reload', most: 1_000, given: 1_001 } as const;
  expect(annotationsView(workloadRow({ excess })).excess).toBe(
    'a/reload: expected a list of at most 1000 entries, given 1001',
  );
  for (const where of [{ inTemplate: true }, { inNamespace: true }] as const)
    expect(annotationsView(workloadRow({ excess: { ...excess, ...where } }))).not.toHaveProperty('excess');
});

it.each([
  ['is left alone if it has no dependencies', [], 'JobFinished'],
  ['is not left alone if a source reloads it, as with --recreate-finished-jobs', ['ConfigMap/cm'], null],
])('a finished Job %s', (_, dependencies, leftAlone) => {
  const row = workloadRow({ leftAlone: 'JobFinished', dependencies });
  const job = listed({ key: 'Job/shop/migrate', row, due: null, rollout: undefined });
  expect(workloadSummary(job, { join: new HistoryJoin(), jobs: new Map() }).leftAlone).toBe(leftAlone);
});
