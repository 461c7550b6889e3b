import { expect, it } from 'vitest';
import { workloadLook } from './workload-look.ts';

const NOTHING = {
  due: null,
  hold: null,
  contested: false,
  lastAttempt: null,
  rollout: 'complete',
  leftAlone: null,
  stale: false,
  sources: 1,
} as const;

it('is the worst of what is so: only a workload without anything open is up to date', () => {
  const word = (due: 'owed' | 'correct' | null, rollout: 'stuck' | 'progressing' | 'complete'): string =>
    workloadLook({ ...NOTHING, due, rollout }).word;
  expect(word(null, 'stuck')).toBe('Stuck');
  expect(word('owed', 'stuck')).toBe('Stuck');
  expect(word('owed', 'complete')).toBe('Pending');
  expect(word('owed', 'progressing')).toBe('Pending');
  expect(word(null, 'progressing')).toBe('Rolling out');
  expect(word('correct', 'complete')).toBe('Record outdated');
  expect(word(null, 'complete')).toBe('Up to date');
  expect(workloadLook({ ...NOTHING, leftAlone: 'CronJobSuspended' }).word).toBe('Not reloaded');
  expect(workloadLook({ ...NOTHING, stale: true }).word).toBe('Stale');
  expect(workloadLook({ ...NOTHING, stale: true, due: 'correct' }).word).toBe('Stale');
  expect(workloadLook({ ...NOTHING, stale: true, due: 'owed' }).word).toBe('Pending');
  const hold = { reason: 'Frozen', detail: '', id: null } as const;
  const held = (due: 'owed' | null, rollout: 'stuck' | 'complete'): string =>
    workloadLook({ ...NOTHING, due, rollout, hold }).word;
  expect([held('owed', 'complete'), held('owed', 'stuck'), held(null, 'complete')]).toEqual([
    'Held',
    'Stuck',
    'Up to date',
  ]);
});

it('is not up to date if no source reloads it: its pods may have older data', () => {
  expect(workloadLook({ ...NOTHING, sources: 0 }).word).toBe('Not reloaded');
  expect(workloadLook({ ...NOTHING, sources: 0, rollout: 'progressing' }).word).toBe('Rolling out');
});

it('is why a reload is pending still', () => {
  const owed = { ...NOTHING, due: 'owed' } as const;
  const ended = { reason: 'Invalid', at: '', error: null } as const;
  expect(workloadLook({ ...owed, contested: true }).word).toBe('Conflict');
  for (const [state, word] of [
    ['failed', 'Failed'],
    ['retrying', 'Retrying'],
  ] as const)
    expect(workloadLook({ ...owed, lastAttempt: { ...ended, state } }).word).toBe(word);
});

it('is that a manual reload or a correction failed, although no reload is pending', () => {
  const lastAttempt = { state: 'failed', reason: 'Invalid', at: '', error: null } as const;
  const word = (due: 'correct' | null): string => workloadLook({ ...NOTHING, due, lastAttempt }).word;
  expect([word(null), word('correct')]).toEqual(['Failed', 'Failed']);
  const hold = { reason: 'Frozen', detail: '', id: null } as const;
  expect(workloadLook({ ...NOTHING, lastAttempt, hold }).word).toBe('Failed');
});
