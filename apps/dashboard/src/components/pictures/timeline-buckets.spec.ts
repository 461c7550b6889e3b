import { expect, it } from 'vitest';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import { bucketsOf, roundTop } from './timeline-buckets.ts';

const FROM = new Date('2026-11-21T14:00:00.000Z');
const TO = new Date('2026-11-21T15:00:00.000Z');

function change(seenAt: string, states: ChangeSummary['states']): ChangeSummary {
  return {
    id: '1-0',
    source: null,
    cause: 'manual',
    seenAt,
    takenUpAt: seenAt,
    from: null,
    to: null,
    request: null,
    states,
    halted: 0,
  };
}

it('counts workloads in the minute of their change, by what became of them', () => {
  const buckets = bucketsOf(
    [
      change('2026-11-21T14:00:59.999Z', { rolledOut: 2, failed: 1, retrying: 1 }),
      change('2026-11-21T14:01:00.000Z', { skipped: 3, stuck: 1, pending: 4 }),
    ],
    FROM,
    TO,
  );
  expect(buckets).toHaveLength(60);
  expect(buckets[0]).toEqual({ from: FROM, good: 2, busy: 0, warn: 1, bad: 1, quiet: 0 });
  expect(buckets[1]).toMatchObject({ good: 0, busy: 4, quiet: 3, bad: 1 });
});

it('leaves out what was before, and takes what a clock ahead dates later as of now', () => {
  const buckets = bucketsOf(
    [
      change('2026-11-21T13:59:59.999Z', { rolledOut: 1 }),
      change('2026-11-21T15:00:05.000Z', { rolledOut: 1 }),
    ],
    FROM,
    TO,
  );
  expect(buckets.map(({ good }) => good).reduce((sum, each) => sum + each, 0)).toBe(1);
  expect(buckets.at(-1)?.good).toBe(1);
});

it.each([
  [0, 1],
  [1, 1],
  [3, 4],
  [7, 8],
  [9, 10],
  [10, 10],
  [11, 12],
  [23, 24],
  [41, 60],
  [999, 1_000],
])('an axis that shows %s goes up to %s', (most, top) => {
  expect(roundTop(most)).toBe(top);
});
