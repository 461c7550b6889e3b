import { describe, expect, it } from 'vitest';
import {
  DEPENDENCY_STATES,
  dependencyState,
  type Dependency,
  type DependencyState,
  type Progress,
} from './dependency-state.ts';

const CURRENT: Dependency = {
  rolls: true,
  due: null,
  stale: false,
  recorded: 'a',
  current: 'a',
  exists: true,
};
const RESTING: Progress = { rollout: 'complete', latest: undefined };

const state = (of: Partial<Dependency> = {}, progress: Partial<Progress> = {}): DependencyState =>
  dependencyState({ ...CURRENT, ...of }, { ...RESTING, ...progress });

describe('how a workload stands to the data of a source', () => {
  it('is current if the record says so and nothing goes on', () => {
    expect(state()).toBe('current');
    // The latest reload is over, however it ended.
    expect(state({}, { latest: 'failed' })).toBe('current');
  });

  it('is pending, or what keeps the reload from being done', () => {
    const owed = { due: 'owed', recorded: 'b' } as const;
    expect(state(owed)).toBe('pending');
    for (const latest of ['held', 'failed', 'retrying'] as const)
      expect(state(owed, { latest })).toBe(latest);
    expect(state(owed, { latest: 'rolledOut' })).toBe('pending');
    expect(state({ due: 'correct', recorded: 'b' })).toBe('outdated');
  });

  it('is what its pods are doing, and stuck is the worst', () => {
    expect(state({}, { rollout: 'progressing' })).toBe('rollingOut');
    expect(state({ due: 'owed' }, { rollout: 'progressing' })).toBe('pending');
    expect(state({ due: 'owed' }, { rollout: 'stuck', latest: 'held' })).toBe('stuck');
  });

  it('is stale with older data and no reload to come, also if a change does not reload it', () => {
    expect(state({ recorded: 'b' })).toBe('stale');
    expect(state({ recorded: 'b', rolls: false })).toBe('stale');
    // The record is of the time when it was adopted.
    expect(state({ stale: true })).toBe('stale');
    expect(state({ stale: true, due: 'owed' })).toBe('pending');
  });

  it('is not told if there is no record of a source that exists', () => {
    expect(state({ recorded: null })).toBe('unknown');
    expect(state({ recorded: null, current: null, exists: false })).toBe('current');
  });

  it('is nothing if a change does not reload it, whatever its pods do', () => {
    const bystander = { rolls: false, recorded: null };
    expect(state(bystander)).toBe('none');
    expect(state(bystander, { rollout: 'stuck' })).toBe('none');
  });

  it('is listed from the worst on', () => {
    expect([DEPENDENCY_STATES[0], DEPENDENCY_STATES.at(-1)]).toEqual(['stuck', 'none']);
  });
});
