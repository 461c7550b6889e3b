import { expect, it } from 'vitest';
import { workloadLook } from './workload-look.ts';

it('is the worst of what is so: only a workload without anything open is up to date', () => {
  const word = (due: 'owed' | 'correct' | null, rollout: 'stuck' | 'progressing' | 'complete'): string =>
    workloadLook({ due, hold: null, rollout, leftAlone: null }).word;
  expect(word(null, 'stuck')).toBe('Stuck');
  expect(word('owed', 'stuck')).toBe('Stuck');
  expect(word('owed', 'complete')).toBe('Pending');
  expect(word('owed', 'progressing')).toBe('Pending');
  expect(word(null, 'progressing')).toBe('Rolling out');
  expect(word('correct', 'complete')).toBe('Record outdated');
  expect(word(null, 'complete')).toBe('Up to date');
  const alone = { due: null, hold: null, rollout: 'complete', leftAlone: 'CronJobSuspended' } as const;
  expect(workloadLook(alone).word).toBe('Not reloaded');
  const hold = { reason: 'Frozen', detail: '', id: null } as const;
  const held = (due: 'owed' | null, rollout: 'stuck' | 'complete'): string =>
    workloadLook({ due, rollout, leftAlone: null, hold }).word;
  expect([held('owed', 'complete'), held('owed', 'stuck'), held(null, 'complete')]).toEqual([
    'Held',
    'Stuck',
    'Up to date',
  ]);
});
