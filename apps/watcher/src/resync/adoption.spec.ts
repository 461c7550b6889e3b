import type { WorkloadKey } from '@reroll/core/model';
import { SCOPE, WATCHED_UNTIL } from '@reroll/kube/lease/lease-record';
import { expect, it } from 'vitest';
import { ADOPTED_AT, ADOPTION_PAUSE, AdoptionRate, Corrections, readAdoptedAt } from './adoption.ts';

/** The tokens taken at each check during this many seconds. */
function takenIn(seconds: number, perSecond: number): number[] {
  let now = 0;
  const rate = new AdoptionRate(perSecond, () => now);
  const taken: number[] = [];
  for (; now < seconds * 1000; now += ADOPTION_PAUSE) taken.push(allOf(rate, perSecond + 1));
  return taken;
}

function allOf(rate: AdoptionRate, most: number): number {
  let tokens = 0;
  while (tokens < most && rate.take()) tokens += 1;
  return tokens;
}

it.each([1, 20, 30, 200, 10_000])(
  '%d a second are taken a few at a time, also after a long rest',
  (perSecond) => {
    const taken = takenIn(60, perSecond);
    const most = 1 + Math.floor((perSecond * ADOPTION_PAUSE) / 1000);
    expect(Math.max(...taken)).toBeLessThanOrEqual(most);
    const all = taken.reduce((sum, each) => sum + each, 0);
    expect(all).toBeLessThanOrEqual(60 * perSecond + most);
    expect(all).toBeGreaterThanOrEqual(59 * perSecond);
  },
);

it('with 10,000 waiting in one namespace, one of another namespace is among the next two', () => {
  let now = 0;
  const corrections = new Corrections(new AdoptionRate(1, () => now));
  const taken: WorkloadKey[] = [];
  const takeFor = (seconds: number): void => {
    for (const end = now + seconds * 1_000; now < end; now += 1_000) taken.push(...corrections.take());
  };
  for (let n = 0; n < 10_000; n += 1) corrections.put(`Deployment/big/web-${n}`);
  takeFor(3);
  corrections.put('Deployment/small/web');
  takeFor(2);
  expect(taken).toHaveLength(5);
  expect(taken.slice(3)).toContain('Deployment/small/web');
});

it('a workload waits once, also if it is put again, and not at all once it is dropped', () => {
  const corrections = new Corrections(new AdoptionRate(1_000));
  for (const name of ['web', 'api', 'web', 'gone'] as const) corrections.put(`Deployment/ns/${name}`);
  corrections.drop('Deployment/ns/gone');
  expect(corrections.isReady).toBe(true);
  expect(corrections.take()).toEqual(['Deployment/ns/web', 'Deployment/ns/api']);
  expect([corrections.isEmpty, corrections.isReady]).toEqual([true, false]);
});

const AT = '2026-01-02T03:04:05Z';
const LATER = '2026-02-02T00:00:00Z';

it.each([
  ['before anybody led', {}, undefined],
  ['of a leader with the same scope', { [SCOPE]: 'own', [WATCHED_UNTIL]: LATER }, [AT, false]],
  ['of a leader that wrote no scope', {}, [AT, false]],
  [
    'of one with another scope, until when it watched',
    { [SCOPE]: 'other', [WATCHED_UNTIL]: LATER },
    [LATER, true],
  ],
] as const)('the time of the adoption is read from the Lease: %s', async (which, scope, expected) => {
  const annotations = which === 'before anybody led' ? {} : { [ADOPTED_AT]: AT, ...scope };
  const client = { get: async () => await Promise.resolve({ body: { metadata: { annotations } } }) };
  const lease = { namespace: 'reroll', name: 'watcher', scope: 'own' };
  const read = await readAdoptedAt(client as unknown as Parameters<typeof readAdoptedAt>[0], lease);
  const [time = '', isScopeNew] = expected ?? [];
  expect(read).toEqual(expected && { adoptedAt: Date.parse(time) / 1000, isScopeNew });
});
