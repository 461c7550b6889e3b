import { assert, property, array, constantFrom, record, integer, nat } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changed, CONFIG, inStep, reloaded, retrying, rollout, WEB } from '../testing/history.ts';
import type { ChangeEntry, OutcomeEntry, RolloutEntry } from './entries.ts';
import { HistoryJoin } from './join.ts';
import { liveState, outcomeReason, stateOf, type LiveJob } from './states.ts';

type Entry = ChangeEntry | OutcomeEntry | RolloutEntry;

/** An entry that is added at a time; the order is that of the list. */
type Added = readonly [at: number, entry: Entry];

function joined(...added: readonly Added[]): HistoryJoin {
  const join = new HistoryJoin();
  for (const [index, [at, entry]] of added.entries()) add(join, `${at}-${index}`, entry);
  return join;
}

function add(join: HistoryJoin, id: string, entry: Entry): void {
  if ('woken' in entry) join.addChange(id, entry);
  else if ('attempt' in entry) join.addOutcome(id, entry);
  else join.addRollout(id, entry);
}

/** Of each change, oldest first: state and reason of its first workload. */
function told(join: HistoryJoin): string[] {
  return join.changes.map(({ pairs: [pair] }) =>
    pair ? [stateOf(pair), outcomeReason(pair)].filter(Boolean).join(' ') : 'none',
  );
}

const stuck = rollout(2, { state: 'stuck', code: 'ProgressDeadlineExceeded' });
const manual = changed(1000, {
  source: null,
  cause: 'manual',
  request: { id: '1000-a', actor: 'ann', reason: 'a test' },
});

/** A change, told a little after it was seen. */
const SEEN: Added = [1002, changed(1000)];

const CASES: readonly (readonly [name: string, tells: string | readonly string[], ...added: Added[]])[] = [
  ['waits for its outcome', 'pending', SEEN],
  ['is reloaded by the job that it made', 'reloaded Reloaded', SEEN, [1010, reloaded(1000)]],
  [
    'is reloaded by a job whose outcome was written before the change was',
    'reloaded Reloaded',
    [1009, reloaded(1000)],
    [1010, changed(1000)],
  ],
  [
    'is rolled out at once by a reload that does not change the generation',
    'rolledOut JobCreated',
    SEEN,
    [1010, reloaded(1000, { reason: 'JobCreated', generation: undefined })],
  ],
  ['is reloaded by a job that waited when it came', 'reloaded Reloaded', SEEN, [1500, reloaded(500)]],
  ['is reloaded by a job that was enqueued later', 'reloaded Reloaded', SEEN, [2500, reloaded(2000)]],
  [
    'belongs to the reload that brought it, not to the job after that, which found the work done',
    'reloaded Reloaded',
    SEEN,
    [1010, reloaded(500)],
    [1020, inStep(1000)],
  ],
  [
    'belongs to the job after one that was at work and had not seen it',
    'reloaded Reloaded',
    SEEN,
    [1010, inStep(500)],
    [1020, reloaded(1000)],
  ],
  [
    'keeps its outcome when the workload is reloaded for a later one',
    ['skipped InStep', 'reloaded Reloaded'],
    SEEN,
    [1010, inStep(500)],
    [9002, changed(9000)],
    [9010, reloaded(9000)],
  ],
  [
    'shares the reload of a later one that came before the job ran',
    ['reloaded Reloaded', 'reloaded Reloaded'],
    SEEN,
    [1102, changed(1100)],
    [1500, reloaded(1000)],
  ],
  [
    'has the reload of its own when each was taken up in turn',
    ['reloaded Reloaded', 'reloaded ReloadedPaused'],
    SEEN,
    [1010, reloaded(1000)],
    [2002, changed(2000)],
    [2010, reloaded(2000, { reason: 'ReloadedPaused', generation: 3 })],
  ],
  ['is not touched by an outcome from before it was seen', 'pending', [900, reloaded(890)], SEEN],
  [
    'is retried, then reloaded',
    'reloaded Reloaded',
    SEEN,
    [1010, retrying(1000)],
    [3010, reloaded(1000, { attempt: 2 })],
  ],
  ['is retried', 'retrying ApiUnavailable', SEEN, [1010, retrying(1000, { next: 2000 })]],
  [
    'has failed, and stays so while the resync tries in vain',
    'failed Invalid',
    SEEN,
    [1010, retrying(1000, { state: 'failed', reason: 'Invalid' })],
    [61_010, retrying(61_000)],
  ],
  [
    'has failed, and is reloaded when a later try succeeds',
    'reloaded Reloaded',
    SEEN,
    [1010, retrying(1000, { state: 'failed', reason: 'Invalid' })],
    [61_010, reloaded(61_000)],
  ],
  [
    'waits on when the catalog was behind',
    'pending CatalogBehind',
    SEEN,
    [1010, inStep(1000, { reason: 'CatalogBehind', sources: { 'ConfigMap/cm': 'Wait' } })],
  ],
  [
    'is reloaded by the job that was enqueued after the catalog was behind',
    'reloaded Reloaded',
    SEEN,
    [1010, inStep(1000, { reason: 'CatalogBehind', sources: { 'ConfigMap/cm': 'Wait' } })],
    [1090, reloaded(1080)],
  ],
  [
    'is skipped where another source rolled the workload',
    'skipped InStep',
    SEEN,
    [
      1010,
      reloaded(1000, { sources: { 'ConfigMap/cm': 'InStep', 'Secret/s': 'Roll' }, rolled: ['Secret/s'] }),
    ],
  ],
  [
    'is only recorded where the owner brought it',
    'recorded BroughtByOwner',
    SEEN,
    [
      1010,
      inStep(1000, { state: 'recorded', reason: 'BroughtByOwner', sources: { 'ConfigMap/cm': 'Correct' } }),
    ],
  ],
  [
    'is only recorded where a way of reloading holds it back',
    'recorded CronJobSuspended',
    SEEN,
    [1010, reloaded(1000, { state: 'recorded', reason: 'CronJobSuspended', rolled: [] })],
  ],
  [
    'is skipped when the workload does not ask any more',
    'skipped NotAnnotated',
    SEEN,
    [1010, inStep(1000, { sources: { 'Secret/s': 'InStep' } })],
  ],
  [
    'is skipped when the workload is gone',
    'skipped WorkloadGone',
    SEEN,
    [1010, inStep(1000, { reason: 'WorkloadGone', sources: {} })],
  ],
  [
    'is reloaded once the conflict over the workload is over',
    'reloaded Reloaded',
    SEEN,
    [1010, inStep(1000, { reason: 'Contested', sources: {} })],
    [9010, reloaded(9000)],
  ],
  [
    'is held until the freeze ends',
    'held Frozen',
    SEEN,
    [1010, reloaded(1000, { state: 'unchanged', reason: 'Frozen', rolled: [] })],
  ],
  [
    'is reloaded once the freeze has ended',
    'reloaded Reloaded',
    SEEN,
    [1010, reloaded(1000, { state: 'unchanged', reason: 'Frozen', rolled: [] })],
    [9010, reloaded(9000)],
  ],
  [
    'waits for a worker with the hash key, and its outcome has so many sources that this one is not among them',
    'delayed KeyUnknown',
    SEEN,
    [1010, inStep(1000, { reason: 'KeyUnknown', sources: { 'ConfigMap/other': 'KeyUnknown' }, omitted: 80 })],
  ],
  [
    'is reloaded once it has waited for such a worker',
    'reloaded Reloaded',
    SEEN,
    [1010, inStep(1000, { reason: 'KeyUnknown', sources: { 'ConfigMap/other': 'KeyUnknown' }, omitted: 80 })],
    [9010, reloaded(9000)],
  ],
  [
    'is reloaded by an outcome of so many sources that this one is not among them',
    'reloaded Reloaded',
    SEEN,
    [1010, reloaded(1000, { sources: { 'ConfigMap/other': 'Roll' }, rolled: [], omitted: 80 })],
  ],
  [
    'would be reloaded, in a dry run',
    'wouldReload WouldReload',
    SEEN,
    [1010, reloaded(1000, { state: 'wouldReload', reason: 'WouldReload' })],
  ],
  [
    'leaves alone whom the rules leave alone',
    'skipped',
    [1002, changed(1000, { woken: [], leftAlone: [{ workload: WEB, reason: 'NotAnnotated', detail: '' }] })],
    [1010, reloaded(1000)],
  ],
  [
    'that a person asked for has the outcome that carries the request',
    'reloaded Reloaded',
    [1000, manual],
    [1005, reloaded(900)],
    [1010, reloaded(1000, { rolled: [], request: { id: '1000-a', actor: 'ann', reason: 'a test' } })],
  ],
  [
    'that a person asked for is not what another source did',
    'pending',
    [1000, manual],
    [1005, reloaded(900)],
  ],
  [
    'that a person asked for shares the reload of a later request',
    'reloaded Reloaded',
    [1000, manual],
    [1010, reloaded(1000, { request: { id: '1004-b', actor: 'bob', reason: 'a test' } })],
  ],
  [
    'that a person asked for has failed',
    'failed Invalid',
    [1000, manual],
    [1010, retrying(1000, { state: 'failed', reason: 'Invalid' })],
  ],
  ['is rolled out', 'rolledOut Reloaded', SEEN, [1010, reloaded(1000)], [1400, rollout(2)]],
  [
    'is rolled out, though that was told first',
    'rolledOut Reloaded',
    SEEN,
    [1009, rollout(2)],
    [1010, reloaded(1000)],
  ],
  [
    'is not rolled out by an earlier rollout',
    'reloaded Reloaded',
    SEEN,
    [1009, rollout(1)],
    [1010, reloaded(1000)],
  ],
  [
    'is rolled out with a later generation',
    'rolledOut Reloaded',
    SEEN,
    [1010, reloaded(1000)],
    [1400, rollout(5)],
  ],
  ['is stuck', 'stuck Reloaded', SEEN, [1010, reloaded(1000)], [1400, stuck]],
  [
    'was stuck, and is rolled out',
    'rolledOut Reloaded',
    SEEN,
    [1010, reloaded(1000)],
    [1400, stuck],
    [1900, rollout(3)],
  ],
  [
    'stays rolled out when a later rollout gets stuck',
    'rolledOut Reloaded',
    SEEN,
    [1010, reloaded(1000)],
    [1400, rollout(2)],
    [1900, { ...stuck, generation: 3 }],
  ],
];

describe('a change', () => {
  const cases = CASES.map(([name, tells, ...added]) => ({ name, tells, added }));
  it.each(cases)('$name', ({ tells, added }) => {
    expect(told(joined(...added))).toEqual([tells].flat());
  });

  it('is rolled out unseen once the workload is at its generation and nothing is under way', () => {
    const join = joined([1002, changed(1000)], [1010, reloaded(1000)]);
    join.noteComplete(WEB, 1);
    expect(told(join)).toEqual(['reloaded Reloaded']);
    join.noteComplete(WEB, 2);
    expect(told(join)).toEqual(['rolledOut Reloaded']);
  });

  it('has the namespace of its source, or of the workload that a person reloaded', () => {
    const join = joined([1002, changed(1000)], [1003, manual]);
    expect(join.changes.map(({ namespace }) => namespace)).toEqual(['shop', 'shop']);
  });

  it.each<[string, LiveJob | null, number, string]>([
    ['waits for a worker', { id: '1', state: 'waiting', until: null, made: 0, most: 5 }, 2000, 'pending'],
    ['is delayed', { id: '1', state: 'delayed', until: 9000, made: 0, most: 5 }, 2000, 'delayed'],
    ['is retried', { id: '1', state: 'delayed', until: 9000, made: 1, most: 5 }, 2000, 'retrying'],
    ['is running', { id: '1', state: 'active', until: null, made: 0, most: 5 }, 2000, 'running'],
    [
      'is held, and another change had told so',
      { id: '1', state: 'delayed', until: 9000, made: 1, most: 5, isHeld: true },
      99_000,
      'held',
    ],
    ['has a job that is about to come', null, 2000, 'pending'],
    ['is forgotten: no job, no outcome, and a minute has passed', null, 62_000, 'forgotten'],
  ])('without an outcome %s', (_, job, now, state) => {
    const [pair] = joined([1002, changed(1000)]).changes[0]?.pairs ?? [];
    expect(pair && liveState(pair, { job, now })).toBe(state);
  });
});

describe('the history', () => {
  it('takes an entry once, however often it is read', () => {
    const join = joined([1002, changed(1000)], [1010, reloaded(1000)]);
    expect(join.addChange('1002-0', changed(1000))).toBeUndefined();
    expect(join.addOutcome('1010-1', reloaded(1000))).toBeUndefined();
    expect(join.changes).toHaveLength(1);
    expect(join.workload(WEB)?.outcomes).toHaveLength(1);
  });

  it('drops what the streams dropped', () => {
    const join = joined(
      [1002, changed(1000)],
      [1010, reloaded(1000)],
      [1400, rollout(2)],
      [2002, changed(2000)],
    );
    join.dropChanges('2002-3');
    expect(join.changes.map(({ id }) => id)).toEqual(['2002-3']);
    expect(join.change('1002-0')).toBeUndefined();
    expect(join.changesOf(CONFIG)).toHaveLength(1);
    expect(join.workload(WEB)?.outcomes[0]?.pairs).toEqual([]);
    join.dropOutcomes('2002-0');
    join.dropRollouts('2002-0');
    join.dropChanges('3000-0');
    expect(join.workload(WEB)).toBeUndefined();
    expect([join.changes, join.outcomes, join.rollouts]).toEqual([[], [], []]);
  });

  it('does not take a later outcome for one that was dropped', () => {
    const live = joined([1002, changed(1000)], [1010, reloaded(1000)]);
    live.dropOutcomes('5000-0');
    const loaded = new HistoryJoin();
    loaded.dropOutcomes('5000-0');
    loaded.addChange('1002-0', changed(1000));
    for (const join of [live, loaded]) {
      expect(told(join)).toEqual(['forgotten']);
      join.addOutcome('9000-0', inStep(8990));
      expect(told(join)).toEqual(['forgotten']);
    }
  });

  it('drops one entry, and takes no later outcome for its own in that namespace', () => {
    const bank = 'Deployment/bank/web';
    const woken = [{ workload: bank, reason: 'AutoReload', detail: '' } as const];
    const inBank = (since: number): ChangeEntry => changed(since, { source: 'ConfigMap/bank/cm', woken });
    const join = joined([1002, inBank(1000)], [1010, reloaded(1000)], [1012, reloaded(1001)]);
    join.dropOutcomes('1010-2', { id: '1010-1', share: 'shop' });
    expect(join.outcomes.map(({ id }) => id)).toEqual(['1012-2']);
    expect([join.outcomesFrom('shop'), join.outcomesFrom('bank')]).toEqual([1010, 0]);
    join.addChange('1003-0', changed(1000));
    join.addOutcome('9000-0', reloaded(1000, { workload: bank }));
    expect(join.changes.map(({ pairs: [pair] }) => pair && stateOf(pair))).toEqual(['reloaded', 'forgotten']);
    join.dropChanges('1003-1', { id: '1003-0', share: 'shop' });
    expect(join.changes.map(({ id }) => id)).toEqual(['1002-0']);
    expect(join.changesOf(CONFIG)).toEqual([]);
    join.dropOutcomes('1012-0');
    expect([join.outcomesFrom('shop'), join.outcomesFrom('bank')]).toEqual([1012, 1012]);
  });

  it('is the same in whatever order the streams are read', () => {
    const time = integer({ min: 0, max: 400 });
    const generation = integer({ min: 1, max: 4 });
    const changes = array(record({ kind: constantFrom('change' as const), at: time, waited: nat(80) }), {
      maxLength: 8,
    });
    const outcomes = array(
      record({
        kind: constantFrom('reloaded' as const, 'inStep' as const, 'retrying' as const, 'failed' as const),
        at: time,
        waited: nat(120),
        generation,
      }),
      { maxLength: 10 },
    );
    const rollouts = array(
      record({ kind: constantFrom('complete' as const, 'stuck' as const), at: time, generation }),
      { maxLength: 6 },
    );
    assert(
      property(changes, outcomes, rollouts, array(nat(2), { maxLength: 30 }), (a, b, c, order) => {
        const streams = [sorted(a.map(changeAt)), sorted(b.map(outcomeAt)), sorted(c.map(rolloutAt))];
        const inTurn = joined(...streams.flat());
        const mixed = new HistoryJoin();
        const left = streams.map((stream) => [...stream.entries()]);
        let offset = 0;
        const indexes = streams.map((stream) => (offset += stream.length) - stream.length);
        for (const which of [...order, ...left.flatMap((stream, index) => stream.map(() => index))]) {
          const next = left[which]?.shift();
          if (next) add(mixed, `${next[1][0]}-${(indexes[which] ?? 0) + next[0]}`, next[1][1]);
        }
        expect(told(mixed)).toEqual(told(inTurn));
        for (const join of [mixed, inTurn]) expect(changesOfOutcomes(join)).toEqual(changesOfPairs(join));
      }),
    );
  });
});

/** Of each outcome the changes that it says it belongs to. */
function changesOfOutcomes(join: HistoryJoin): string[][] {
  return join.outcomes.map(({ pairs }) => pairs.map(({ change }) => change.id));
}

/** The same, oldest first, as the changes say it. */
function changesOfPairs(join: HistoryJoin): string[][] {
  const pairs = join.changes.flatMap((change) => change.pairs);
  return join.outcomes.map((outcome) =>
    pairs.filter((pair) => pair.outcome === outcome).map(({ change }) => change.id),
  );
}

function sorted(added: readonly Added[]): Added[] {
  return [...added].sort(([a], [b]) => a - b);
}

function changeAt({ at, waited }: { at: number; waited: number }): Added {
  return [1000 + at, changed(1000 + at - waited, { at: 1000 + at })];
}

function outcomeAt(of: {
  kind: 'reloaded' | 'inStep' | 'retrying' | 'failed';
  at: number;
  waited: number;
  generation: number;
}): Added {
  const since = 1000 + of.at - of.waited;
  if (of.kind === 'reloaded') return [1000 + of.at, reloaded(since, { generation: of.generation })];
  if (of.kind === 'inStep') return [1000 + of.at, inStep(since)];
  return [1000 + of.at, retrying(since, { state: of.kind })];
}

function rolloutAt(of: { kind: 'complete' | 'stuck'; at: number; generation: number }): Added {
  return [1000 + of.at, rollout(of.generation, { state: of.kind })];
}
