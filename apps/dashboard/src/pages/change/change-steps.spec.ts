import { describe, expect, it } from 'vitest';
import type { ChangeWorkload } from '@reroll/shared/api/changes';
import { stepsOf, wholeTime } from './change-steps.ts';

const CHANGE = {
  source: { kind: 'Secret', namespace: 'shop', name: 'db' },
  seenAt: '2026-11-21T15:00:00.000Z',
  takenUpAt: '2026-11-21T15:00:00.400Z',
} as const;
const PATCHED_AT = '2026-11-21T15:00:01.240Z';
const REPLACED_AT = '2026-11-21T15:02:06.000Z';

type Of = Pick<ChangeWorkload, 'state' | 'decidedAt' | 'rollout'>;

function told(of: Of): string[] {
  return stepsOf(CHANGE, of).map(({ word, after, tone }) => [word, after, tone].join(' '));
}

function rollout(at?: string): Of['rollout'] {
  return { state: 'complete', code: 'Complete', conditions: [], ...(at === undefined ? {} : { at }) };
}

describe('the timeline of a workload', () => {
  it('goes from the change to the new pods, with the time between the steps and in all', () => {
    const of: Of = { state: 'rolledOut', decidedAt: PATCHED_AT, rollout: rollout(REPLACED_AT) };
    expect(told(of)).toEqual([
      'Seen  good',
      'Decided 400 ms good',
      'Patched 840 ms good',
      'Pods replaced 2 min 4 s good',
    ]);
    expect(wholeTime(stepsOf(CHANGE, of))).toBe('2 min 6 s');
    expect(stepsOf({ ...CHANGE, source: null }, of)[0]?.word).toBe('Requested');
  });

  it('invents no time that the history does not have', () => {
    const steps = stepsOf(CHANGE, { state: 'rolledOut', decidedAt: PATCHED_AT, rollout: rollout() });
    expect(steps.at(-1)).toEqual({ word: 'Pods replaced', at: null, after: null, tone: 'good' });
    expect(wholeTime(steps)).toBeNull();
  });

  it('says where it stands while it is not over', () => {
    expect(told({ state: 'reloaded', decidedAt: PATCHED_AT, rollout: null }).at(-1)).toBe(
      'Pods being replaced  busy',
    );
    expect(told({ state: 'pending', decidedAt: null, rollout: null }).slice(2)).toEqual([
      'Waiting  busy',
      'Patched  todo',
      'Pods replaced  todo',
    ]);
    expect(told({ state: 'held', decidedAt: PATCHED_AT, rollout: null })[2]).toBe('Held 840 ms warn');
  });

  it('ends where it failed or needed nothing', () => {
    expect(told({ state: 'stuck', decidedAt: PATCHED_AT, rollout: rollout(REPLACED_AT) }).at(-1)).toBe(
      'Stuck 2 min 4 s bad',
    );
    expect(told({ state: 'failed', decidedAt: PATCHED_AT, rollout: null }).at(-1)).toBe('Failed 840 ms bad');
    expect(told({ state: 'recorded', decidedAt: PATCHED_AT, rollout: null }).at(-1)).toBe(
      'Recorded 840 ms quiet',
    );
  });
});
