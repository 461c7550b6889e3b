import { describe, expect, it } from 'vitest';
import { latencies, RolloutLog, type Tally, totalTime } from '../src/measure/rollout-log.ts';

const [OLD, NEW] = ['a'.repeat(40), 'b'.repeat(40)];

/** `[workload, generation, marker]`, a millisecond after the other from 101 on. */
type Event = readonly [string, number, string];

/** What a log makes of events, when `expected` workloads were changed to NEW at 100 ms and all began at 1. */
function tallyOf(expected: readonly string[], events: readonly Event[]): Tally {
  const log = new RolloutLog(new Map(), new Map());
  for (const workload of expected) log.expect({ workload, hash: NEW, changedAt: 100 });
  for (const [index, [workload, generation, marker]] of events.entries()) {
    log.observe({ workload, generation, markers: [marker], at: 101 + index });
  }
  return log.finish();
}

interface Case {
  readonly expected: readonly string[];
  readonly events: readonly Event[];
  readonly rolled: number;
  readonly missed: number;
  readonly surplus: Record<string, number>;
}

const CASES: Record<string, Case> = {
  'a workload that shows the new hash is rolled': {
    expected: ['n/a'],
    events: [['n/a', 2, NEW]],
    rolled: 1,
    missed: 0,
    surplus: {},
  },
  'a workload without an event is missed': {
    expected: ['n/a', 'n/b'],
    events: [['n/a', 2, NEW]],
    rolled: 1,
    missed: 1,
    surplus: {},
  },
  'a rollout with another hash is none for this change, and not one too many': {
    expected: ['n/a'],
    events: [['n/a', 2, OLD]],
    rolled: 0,
    missed: 1,
    surplus: {},
  },
  'writes of annotations of a Deployment, which move its generation, are no rollouts': {
    expected: ['n/a'],
    events: [
      ['n/a', 2, ''],
      ['n/a', 3, NEW],
      ['n/a', 4, NEW],
    ],
    rolled: 1,
    missed: 0,
    surplus: {},
  },
  'writes of the status after a rollout are no rollouts': {
    expected: ['n/a'],
    events: [
      ['n/a', 1, OLD],
      ['n/a', 2, NEW],
      ['n/a', 2, NEW],
      ['n/a', 2, NEW],
    ],
    rolled: 1,
    missed: 0,
    surplus: {},
  },
  'a second rollout is one too many, whatever its hash': {
    expected: ['n/a'],
    events: [
      ['n/a', 2, OLD],
      ['n/a', 3, NEW],
    ],
    rolled: 1,
    missed: 0,
    surplus: { 'n/a': 1 },
  },
  'rollouts that came in one event are all counted': {
    expected: ['n/a'],
    events: [['n/a', 4, NEW]],
    rolled: 1,
    missed: 0,
    surplus: { 'n/a': 2 },
  },
  'a rollout of a workload whose source did not change is one too many': {
    expected: ['n/a'],
    events: [
      ['n/a', 2, NEW],
      ['n/b', 2, NEW],
    ],
    rolled: 1,
    missed: 0,
    surplus: { 'n/b': 1 },
  },
  'a hash inside the text of an annotation counts': {
    expected: ['n/a'],
    events: [['n/a', 2, `{"hash":"${NEW}"}`]],
    rolled: 1,
    missed: 0,
    surplus: {},
  },
};

describe('of the events of a watch', () => {
  it.each(Object.entries(CASES))('%s', (_, { expected, events, rolled, missed, surplus }) => {
    const tally = tallyOf(expected, events);
    expect([tally.rolled, tally.missed, Object.fromEntries(tally.surplus)]).toEqual([
      rolled,
      missed,
      surplus,
    ]);
  });

  it('the first one with the new hash is when the workload was rolled', () => {
    const { outcomes } = tallyOf(
      ['n/a'],
      [
        ['n/a', 2, OLD],
        ['n/a', 3, NEW],
        ['n/a', 3, NEW],
      ],
    );
    expect(latencies(outcomes)).toEqual([2]);
  });

  it('the last rollout ends the total time, that of a missed workload does not', () => {
    const { outcomes } = tallyOf(
      ['n/a', 'n/b', 'n/c'],
      [
        ['n/a', 2, NEW],
        ['n/b', 2, NEW],
        ['n/c', 2, OLD],
      ],
    );
    expect(totalTime(outcomes)).toBe(2);
  });
});

it('finishing forgets what was expected, but not the generations', () => {
  const log = new RolloutLog(new Map([['n/a', 5]]), new Map());
  log.expect({ workload: 'n/a', hash: NEW, changedAt: 0 });
  log.observe({ workload: 'n/a', generation: 6, markers: [NEW], at: 1 });
  log.finish();
  log.observe({ workload: 'n/a', generation: 6, markers: [NEW], at: 2 });
  expect(log.finish()).toEqual({ outcomes: [], rolled: 0, missed: 0, surplus: new Map() });
});
