import { describe, expect, it, test } from 'vitest';
import type { WorkloadKey } from '../model.ts';
import {
  inWaveOrder,
  readBake,
  readWaves,
  ROLLOUT_TIMEOUT,
  waveHold,
  waveOf,
  waveSizes,
  type RolloutSeen,
  type WaveMember,
} from './waves.ts';

const NOW = 1_795_000_000_000;
const MINUTE = 60_000;

describe('waves', () => {
  it.each([
    ['1,10%,100%', 200, [1, 20, 200]],
    ['1, 10%', 200, [1, 20, 200]],
    ['10%', 5, [1, 5]],
    ['3,1,50%', 4, [3, 4]],
    ['5', 3, [3]],
    ['100%', 0, []],
    ['1', 0, []],
  ])('of %s for %d workloads', (text, count, sizes) => {
    const reading = readWaves(text);
    expect(reading.state === 'read' && waveSizes(reading.ends, count)).toEqual(sizes);
  });

  it.each(['', '0', '1,,2', 'half', '101%', '-1', '1;2', '1,2,3,4,5,6,7,8,9,10,11'])(
    'cannot be read from "%s"',
    (text) => {
      expect(readWaves(text)).toEqual({
        state: 'unreadable',
        problem: `expected at most 10 numbers or percentages such as 1,10%,100%, or none, given ${JSON.stringify(text)}`,
      });
    },
  );

  it('are none if that is asked for', () => {
    expect(readWaves(' none ')).toEqual({ state: 'none' });
  });
});

test.each([
  ['0', 0],
  ['90s', 90_000],
  ['1h', 3_600_000],
  ['61m', undefined],
  ['-1s', undefined],
  ['soon', undefined],
])('a bake time of %s', (text, bake) => {
  expect(readBake(text)).toBe(bake);
});

test.each([
  ['0', 0],
  ['12', 12],
  ['first', Infinity],
  ['-1', Infinity],
  [undefined, Infinity],
])('a place of %s', (text, wave) => {
  expect(waveOf(text)).toBe(wave);
});

const LONG_AGO: RolloutSeen = { state: 'complete', at: 0 };

function member(name: string, more: Partial<WaveMember> = {}): WaveMember {
  return {
    workload: `Deployment/shop/${name}`,
    wave: Infinity,
    isReloaded: true,
    rollout: LONG_AGO,
    ...more,
  };
}

test('members come by wave, and then by name', () => {
  const members = [member('c'), member('b', { wave: 1 }), member('a'), member('z', { wave: 0 })];
  expect(inWaveOrder(members).map(({ workload }) => workload.at(-1))).toEqual(['z', 'b', 'a', 'c']);
});

describe('a change in waves', () => {
  const pending = { isReloaded: false };
  const key = (name: string): WorkloadKey => `Deployment/shop/${name}`;

  /** What holds the workload of this name. */
  function holdOf(
    name: string,
    members: readonly WaveMember[],
    more: Partial<Parameters<typeof waveHold>[0]> = {},
  ) {
    const input = { source: 'Secret/db', waves: '1,2', bake: '2m', isResumed: false, now: NOW, ...more };
    return waveHold({ ...input, members, workload: key(name) });
  }

  it('reaches the first wave at once, and the others not before it was rolled out and observed', () => {
    const [b, c] = [member('b', pending), member('c', pending)];
    const first = (more: Partial<WaveMember>): WaveMember[] => [member('a', more), b, c];
    expect(holdOf('a', first(pending))).toBeUndefined();
    const looks = { reason: 'AwaitsWave', lookAt: NOW + 10_000 };
    expect(holdOf('b', first(pending))).toEqual({
      ...looks,
      detail: 'Wave 2 of 3 of Secret/db waits for Deployment/shop/a, which is not reloaded yet',
    });
    const states: [RolloutSeen, string][] = [
      [{ state: 'underWay', since: NOW - 1 }, 'is rolling out'],
      [{ state: 'unavailable', since: NOW - 1 }, 'has unavailable pods'],
      [{ state: 'paused' }, 'is paused'],
    ];
    for (const [rollout, what] of states)
      expect(holdOf('b', first({ rollout }))?.detail).toBe(
        `Wave 2 of 3 of Secret/db waits for Deployment/shop/a, which ${what}`,
      );
    const done = first({ rollout: { state: 'complete', at: NOW - MINUTE } });
    expect(holdOf('b', done)).toEqual({
      ...looks,
      until: NOW + MINUTE,
      detail: `Wave 2 of 3 of Secret/db waits until ${new Date(NOW + MINUTE).toISOString()}: wave 1 is observed until then`,
    });
    expect(holdOf('b', done, { now: NOW + MINUTE })).toBeUndefined();
    expect(holdOf('c', done, { now: NOW + MINUTE })?.detail).toContain('Wave 3 of 3');
  });

  const failures: [RolloutSeen, string][] = [
    [{ state: 'stuck', code: 'ProgressDeadlineExceeded' }, 'is stuck (ProgressDeadlineExceeded)'],
    [
      { state: 'underWay', since: NOW - ROLLOUT_TIMEOUT },
      'is not rolled out and available after ten minutes',
    ],
    [
      { state: 'unavailable', since: NOW - ROLLOUT_TIMEOUT },
      'is not rolled out and available after ten minutes',
    ],
  ];

  it.each(failures)('is halted if a rollout of it fails: %j', (rollout, what) => {
    const members = [member('a', { rollout }), member('b', pending), member('c', pending)];
    for (const name of ['b', 'c'])
      expect(holdOf(name, members)).toEqual({
        reason: 'WaveHalted',
        halted: 'Secret/db',
        lookAt: NOW + 10_000,
        detail: `The change of Secret/db is halted in wave 1 of 3: Deployment/shop/a ${what}. It continues when that workload recovers, when the data changes again, or after kubectl reroll resume`,
      });
    expect(holdOf('b', members, { isResumed: true })).toBeUndefined();
    expect(holdOf('c', members, { isResumed: true })?.detail).toContain('waits for Deployment/shop/b');
  });

  it('is halted within a wave too, but not by what does not have it', () => {
    const stuck = { rollout: failures[0]?.[0] as RolloutSeen };
    const members = [member('a'), member('b', stuck), member('c', pending), member('d', pending)];
    expect(holdOf('c', members, { waves: '1,3' })?.reason).toBe('WaveHalted');
    const before = [member('a', { ...pending, ...stuck }), member('b', pending)];
    expect(holdOf('a', before)).toBeUndefined();
    expect(holdOf('b', before)?.reason).toBe('AwaitsWave');
  });

  it('waits if waves or bake time cannot be read, and is not held without waves', () => {
    const members = [member('a', pending)];
    expect(holdOf('a', members, { waves: 'some' })?.detail).toContain('(reroll.dev/waves) cannot be read');
    expect(holdOf('a', members, { bake: '2d' })?.detail).toContain('(reroll.dev/bake) cannot be read');
    expect(holdOf('a', members, { waves: 'none' })).toBeUndefined();
  });

  it('comes last to a workload that the catalog does not count yet', () => {
    const members = [member('a', pending), member('b', pending)];
    expect(holdOf('new', members)?.detail).toBe(
      'Wave 2 of 2 of Secret/db waits for Deployment/shop/a, which is not reloaded yet',
    );
    expect(holdOf('new', [])).toBeUndefined();
  });

  it.each([
    [10, 10],
    [200, 20],
    [100_000, 300],
  ])('with %d workloads is looked at again after %d s', (count, seconds) => {
    const members = Array.from({ length: count }, (_, at) => member(`w${at}`, pending));
    const ordered = inWaveOrder(members);
    const last = ordered.at(-1)?.workload.split('/')[2] ?? '';
    expect(holdOf(last, ordered)?.lookAt).toBe(NOW + seconds * 1_000);
  });
});
