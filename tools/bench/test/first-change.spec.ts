import { describe, expect, it } from 'vitest';
import { firstFigures, firstLatency } from '../src/measure/first-change.ts';
import { figureRows } from '../src/report/figures.ts';
import { SCENARIOS } from '../src/scenarios.ts';

describe('the first change after a start', () => {
  it('takes from its first writing to the patch, also if it had to be repeated', () => {
    const repeated = { workload: 'a/b', hash: 'h', changedAt: 4_000, rolledAt: 4_050 };
    expect(firstLatency([repeated], 1_000)).toBe(3_050);
  });

  it('is the median of all starts, and has to take at most twice as long as later ones', () => {
    const rows = figureRows(firstFigures([90, 30, 40], 25), SCENARIOS.idle.targets);
    expect(rows.filter(({ id }) => id.startsWith('first'))).toMatchObject([
      { value: '40.0 ms', target: '' },
      { value: '1.60x', target: 'at most 2x', met: true },
    ]);
  });

  it('is not told of a reloader that does not say when it is ready', () => {
    expect(firstFigures([undefined], 25)).toEqual({});
  });
});
