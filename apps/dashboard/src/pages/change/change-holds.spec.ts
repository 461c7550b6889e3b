import { describe, expect, it } from 'vitest';
import type { ChangeWorkload } from '@reroll/shared/api/changes';
import { holdsOf } from './change-holds.ts';

function held(name: string, outcome: ChangeWorkload['outcome'], detail = ''): ChangeWorkload {
  const workload = { kind: 'Deployment', namespace: 'shop', name };
  return { workload, state: 'held', outcome, detail } as ChangeWorkload;
}

describe('what holds a change', () => {
  it('is each reason once, with its workloads, the most first', () => {
    const workloads = [
      held('a', 'Frozen', 'frozen by ann'),
      held('b', 'AwaitsWave', 'wave 2 of 3'),
      held('c', 'AwaitsWave', 'wave 3 of 3'),
      { ...held('d', 'Reloaded'), state: 'rolledOut' } as const,
    ];
    expect(holdsOf(workloads)).toEqual([
      { reason: 'AwaitsWave', detail: '', workloads: workloads.slice(1, 3) },
      { reason: 'Frozen', detail: 'frozen by ann', workloads: workloads.slice(0, 1) },
    ]);
    expect(holdsOf(workloads.slice(3))).toEqual([]);
  });
});
