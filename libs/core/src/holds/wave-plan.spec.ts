import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { WorkloadKey } from '../model.ts';
import { wavePlan } from './wave-plan.ts';
import { waveHold, type RolloutSeen, type WaveMember } from './waves.ts';

const NOW = 1_795_000_000_000;
const MINUTE = 60_000;
const LONG_AGO: RolloutSeen = { state: 'complete', at: 0 };
const STUCK: RolloutSeen = { state: 'stuck', code: 'ProgressDeadlineExceeded' };
const UNDER_WAY: RolloutSeen = { state: 'underWay', since: NOW };

/** Workloads `a`, `b`, …, those before the last in `rollouts` with the change. */
function members(count: number, rollouts: readonly RolloutSeen[]): WaveMember[] {
  return Array.from({ length: count }, (_, at) => ({
    workload: `Deployment/shop/${String.fromCodePoint(97 + at)}` as WorkloadKey,
    wave: Infinity,
    isReloaded: at < rollouts.length,
    rollout: rollouts[at] ?? LONG_AGO,
  }));
}

function change(rollouts: readonly RolloutSeen[], more: { bake?: string; isResumed?: boolean } = {}) {
  const { bake, isResumed = false } = more;
  return { waves: '1,50%', bake, isResumed, members: members(4, rollouts), now: NOW };
}

describe('the plan of a change', () => {
  it.each<[string, RolloutSeen[], { bake?: string; isResumed?: boolean }, string[]]>([
    ['has not begun', [], {}, ['underWay', 'waiting', 'waiting']],
    ['is rolled out in its first wave', [UNDER_WAY], {}, ['underWay', 'waiting', 'waiting']],
    ['has its first wave', [LONG_AGO], {}, ['done', 'underWay', 'waiting']],
    ['is observed', [{ state: 'complete', at: NOW - 1 }], { bake: '2m' }, ['baking', 'waiting', 'waiting']],
    [
      'was observed',
      [{ state: 'complete', at: NOW - 2 * MINUTE }],
      { bake: '2m' },
      ['done', 'underWay', 'waiting'],
    ],
    ['is in its second wave', [LONG_AGO, UNDER_WAY], { bake: '2m' }, ['done', 'underWay', 'waiting']],
    [
      'is done',
      [NOW, NOW, NOW, NOW].map((at) => ({ state: 'complete', at })),
      { bake: '2m' },
      ['done', 'done', 'done'],
    ],
    ['is halted', [STUCK], {}, ['halted', 'waiting', 'waiting']],
    ['is halted in its second wave', [LONG_AGO, STUCK], {}, ['done', 'halted', 'waiting']],
    ['was halted, and goes on', [STUCK], { isResumed: true }, ['failed', 'underWay', 'waiting']],
    [
      'is in all of them',
      [LONG_AGO, LONG_AGO, LONG_AGO, UNDER_WAY],
      { bake: '2m' },
      ['done', 'done', 'underWay'],
    ],
    ['has failed where nobody waits', [LONG_AGO, LONG_AGO, LONG_AGO, STUCK], {}, ['done', 'done', 'failed']],
  ])('that %s', (_, rollouts, more, states) => {
    expect(wavePlan(change(rollouts, more))?.waves.map(({ state }) => state)).toEqual(states);
  });

  it('tells until when a wave is observed', () => {
    const plan = wavePlan(change([{ state: 'complete', at: NOW - MINUTE }], { bake: '2m' }));
    expect(plan?.waves[0]?.until).toBe(NOW + MINUTE);
  });

  it('names the workload for which the others wait', () => {
    expect(wavePlan(change([LONG_AGO, STUCK]))?.halted).toEqual({
      workload: 'Deployment/shop/b',
      isReloaded: true,
      detail: 'is stuck (ProgressDeadlineExceeded)',
    });
  });

  it.each([
    { waves: 'half', bake: undefined },
    { waves: '1', bake: 'soon' },
  ])('is none if $waves and $bake cannot be read', (settings) => {
    expect(wavePlan({ ...change([]), ...settings })).toBeUndefined();
  });
});

const ROLLOUT: fc.Arbitrary<RolloutSeen> = fc.oneof(
  fc.integer({ min: 0, max: 4 }).map((ago): RolloutSeen => ({ state: 'complete', at: NOW - ago * MINUTE })),
  fc.constantFrom(1, 11).map((ago): RolloutSeen => ({ state: 'underWay', since: NOW - ago * MINUTE })),
  fc.constantFrom(1, 11).map((ago): RolloutSeen => ({ state: 'unavailable', since: NOW - ago * MINUTE })),
  fc.constant<RolloutSeen>({ state: 'paused' }),
  fc.constant(STUCK),
);

test('a workload may get the change exactly if its wave is under way, and one is halted exactly if the change is', () => {
  const property = fc.property(
    fc.array(fc.tuple(fc.boolean(), ROLLOUT), { minLength: 1, maxLength: 7 }),
    fc.constantFrom('1,50%', '2', '1,2,3'),
    fc.constantFrom(undefined, '0', '2m'),
    fc.boolean(),
    (seen, waves, bake, isResumed) => {
      const all = members(seen.length, []).map((each, at) => {
        const [isReloaded = false, rollout = LONG_AGO] = seen[at] ?? [];
        return { ...each, isReloaded, rollout };
      });
      const waved = { waves, bake, isResumed, members: all, now: NOW };
      const plan = wavePlan(waved);
      const reasons = new Set<string | undefined>();
      for (const wave of plan?.waves ?? [])
        for (const { workload, isReloaded } of wave.members) {
          if (isReloaded) continue;
          const hold = waveHold({ ...waved, source: 'Secret/db', workload });
          expect(wave.state === 'underWay').toBe(hold === undefined);
          reasons.add(hold?.reason);
        }
      expect(plan?.halted !== undefined).toBe(reasons.has('WaveHalted'));
    },
  );
  fc.assert(property, { numRuns: 2_000 });
});
