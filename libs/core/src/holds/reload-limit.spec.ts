import { describe, expect, test } from 'vitest';
import {
  decodeReloads,
  encodeReloads,
  nextReloadAt,
  NO_RELOADS,
  readLimit,
  withReload,
  type PastReloads,
  type ReloadLimit,
} from './reload-limit.ts';

const TEN: ReloadLimit = { count: 10, period: 600_000 };
const BEGIN = 1_795_000_000_000;

/** Reloads as soon as each is allowed and somebody wants it, every `every` ms until `end`; returns when, in seconds since the begin. */
function reloads(limit: ReloadLimit, every: number, end: number): number[] {
  let past: PastReloads = NO_RELOADS;
  const done: number[] = [];
  for (let now = BEGIN; now < BEGIN + end; now += every) {
    if (nextReloadAt(past, limit) > now) continue;
    past = decodeReloads(encodeReloads(withReload(past, limit, now)));
    done.push((now - BEGIN) / 1000);
  }
  return done;
}

describe('a source that is written every second', () => {
  const done = reloads(TEN, 1_000, 8 * 3_600_000);

  test('reloads its workload no more often than the limit allows, in any period', () => {
    for (const [at, time] of done.entries()) {
      const earlier = done[at - TEN.count];
      if (earlier !== undefined) expect(time - earlier).toBeGreaterThanOrEqual(TEN.period / 1000);
    }
  });

  test('reloads it with growing waits, up to an hour', () => {
    expect(done.slice(0, 10)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const waits = done.slice(10).map((time, at) => Math.round((time - (done[at + 9] ?? 0)) / 60));
    expect(waits).toEqual([10, 10, 20, 40, 60, 60, 60, 60, 60, 60]);
  });
});

test('a workload that is reloaded less often than its limit is never held', () => {
  expect(reloads(TEN, 90_000, 24 * 3_600_000)).toHaveLength((24 * 3_600_000) / 90_000);
});

test('a rest ends the growing', () => {
  const limit = { count: 2, period: 60_000 };
  let past = NO_RELOADS;
  for (let number = 0; number < 6; number += 1)
    past = withReload(past, limit, Math.max(BEGIN, nextReloadAt(past, limit)));
  expect(past.level).toBe(4);
  expect(withReload(past, limit, nextReloadAt(past, limit) + 10_000).level).toBe(0);
});

test('a limit that was lowered counts the last reloads only', () => {
  const past = { times: [100, 200, 300], level: 0 };
  expect(nextReloadAt(past, { count: 1, period: 60_000 })).toBe(361_000);
});

test.each([
  ['10/10m', { state: 'read', limit: TEN }],
  [' 3/1h ', { state: 'read', limit: { count: 3, period: 3_600_000 } }],
  ['none', { state: 'none' }],
])('%j is a limit', (text, expected) => {
  expect(readLimit(text)).toEqual(expected);
});

test.each(['', '10', '0/1m', '51/1m', '5/25h', '5/1ms', '5/soon', '-1/1m', '5/-1m'])(
  '%j is no limit',
  (text) => {
    expect(readLimit(text)).toMatchObject({
      state: 'unreadable',
      problem: expect.stringContaining(`given "${text}"`),
    });
  },
);

test('times later than a day from now are none', () => {
  const day = 86_400_000;
  const text = encodeReloads({ times: [1, (BEGIN + 2 * day) / 1000], level: 3 });
  expect(decodeReloads(text, BEGIN)).toEqual(NO_RELOADS);
  expect(decodeReloads(text, BEGIN + day).times).toHaveLength(2);
  expect(decodeReloads(text).times).toHaveLength(2);
});

test.each([undefined, 7, '', '1.', '0.zzzzzzzzz', '..', '1.-2', 'A.1', '1.2'.repeat(400)])(
  '%j counts as no reload',
  (text) => {
    expect(decodeReloads(text)).toEqual(NO_RELOADS);
  },
);
