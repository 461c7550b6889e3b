import { describe, expect, it } from 'vitest';
import type { Waves } from '@reroll/shared/api/waves';
import { wavePlaces } from './wave-places.ts';

describe('the wave of a workload', () => {
  const wave = (name: string, state: 'done' | 'waiting') => ({
    state,
    until: null,
    size: 1,
    reloaded: 0,
    workloads: [
      {
        workload: { kind: 'Deployment' as const, namespace: 'shop', name },
        reloaded: false,
        detail: 'is pending',
      },
    ],
  });
  const waves: Waves = {
    hash: 'new',
    waves: '1,100%',
    bake: null,
    plan: [wave('a', 'done'), wave('b', 'waiting')],
    problem: null,
    halted: null,
    resumed: false,
  };

  it('is its number and state', () => {
    expect([...wavePlaces(waves, 'new')]).toEqual([
      ['Deployment/shop/a', { number: 1, of: 2, state: 'done' }],
      ['Deployment/shop/b', { number: 2, of: 2, state: 'waiting' }],
    ]);
  });

  it('is not told of other data, or without a plan', () => {
    expect(wavePlaces(waves, 'old').size).toBe(0);
    expect(wavePlaces({ ...waves, plan: null }, 'new').size).toBe(0);
    expect(wavePlaces(null, 'new').size).toBe(0);
  });
});
