import { describe, expect, test } from 'vitest';
import {
  LeaderElector,
  type Leadership,
  type LeaseOptions,
  type LostReason,
  type RestoredLease,
} from './lease.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { FakeLeases } from '../testing/fake-leases.ts';

const ADOPTED_AT = 'reroll.dev/adopted-at';

interface Candidate {
  readonly elector: LeaderElector;
  readonly api: ReturnType<FakeLeases['connect']>;
  readonly acquired: Leadership[];
  readonly lost: LostReason[];
  readonly standby: string[];
  readonly errors: number[];
  readonly restored: RestoredLease[];
}

function candidate(
  world: { leases: FakeLeases; clock: FakeClock },
  identity: string,
  options: Partial<LeaseOptions> = {},
): Candidate {
  const api = world.leases.connect();
  const seen = {
    api,
    acquired: [] as Leadership[],
    lost: [] as LostReason[],
    standby: [] as string[],
    errors: [] as number[],
    restored: [] as RestoredLease[],
  };
  const elector = new LeaderElector({
    client: api,
    namespace: 'reroll',
    name: 'watcher',
    identity,
    adoptedAtAnnotation: ADOPTED_AT,
    clock: world.clock,
    random: () => 1,
    callbacks: {
      onAcquired: (leadership) => seen.acquired.push(leadership),
      onLost: (reason) => seen.lost.push(reason),
      onStandby: (holder) => seen.standby.push(holder),
      onError: (error) => seen.errors.push(error.status),
      onRestored: (restored) => seen.restored.push(restored),
    },
    ...options,
  });
  return { ...seen, elector };
}

function world(): { leases: FakeLeases; clock: FakeClock } {
  return { leases: new FakeLeases(), clock: new FakeClock() };
}

/** A leader and a standby that has seen it. */
async function pair(): Promise<{ place: ReturnType<typeof world>; first: Candidate; second: Candidate }> {
  const place = world();
  const first = candidate(place, 'first');
  const second = candidate(place, 'second');
  first.elector.start();
  await place.clock.advance(0);
  second.elector.start();
  await place.clock.advance(2000);
  return { place, first, second };
}

describe('who leads', () => {
  test('the first candidate creates the Lease, leads, and has the write that made it leader as its term', async () => {
    const place = world();
    const first = candidate(place, 'first');
    first.elector.start();
    await place.clock.advance(0);
    expect(first.elector.isLeader()).toBe(true);
    expect(first.acquired).toEqual([{ term: '102', adoptedAt: '2026-01-02T03:04:05Z' }]);
    expect(place.leases.lease?.spec?.holderIdentity).toBe(first.elector.identity);
    expect(first.elector.identity).toMatch(/^first_[0-9a-f-]{36}$/);
    await first.elector.stop();
  });

  test('a second candidate stands by, says once for whom, and never acquires while the first renews', async () => {
    const { place, first, second } = await pair();
    await place.clock.advance(120_000);
    expect(second.elector.isLeader()).toBe(false);
    expect(second.standby).toEqual([first.elector.identity]);
    expect(second.elector.holder).toBe(first.elector.identity);
    expect(first.elector.isLeader()).toBe(true);
    expect(first.acquired).toHaveLength(1);
    await Promise.all([first.elector.stop(), second.elector.stop()]);
  });

  test('a released Lease is taken within 3 s, with a greater term and the same adopted-at', async () => {
    const { place, first, second } = await pair();
    place.leases.date += 3_600_000;
    await first.elector.stop();
    expect(first.lost).toEqual([]);
    expect(place.leases.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    await place.clock.advance(2999);
    expect(second.elector.isLeader()).toBe(true);
    expect(Number(second.acquired[0]?.term)).toBeGreaterThan(Number(first.acquired[0]?.term));
    expect(second.acquired[0]?.adoptedAt).toBe('2026-01-02T03:04:05Z');
    expect(place.leases.lease?.spec?.leaseTransitions).toBe(1);
    await second.elector.stop();
  });

  describe('a leader with a scope', () => {
    /** Unix milliseconds by the API server's clock until when each of two leaders has watched; undefined: it has not yet. */
    async function successor(former: LeaseOptions['scope'], own: LeaseOptions['scope']) {
      const place = world();
      const first = candidate(place, 'first', { scope: former });
      first.elector.start();
      await place.clock.advance(5_000);
      await first.elector.stop();
      place.leases.date += 3_600_000;
      const second = candidate(place, 'second', { scope: own });
      second.elector.start();
      await place.clock.advance(5_000);
      await second.elector.stop();
      return place.leases.lease?.metadata.annotations;
    }
    const scopeOf = (value: string, until: string | undefined): LeaseOptions['scope'] => ({
      value,
      watchedUntil: () => (until === undefined ? undefined : Date.parse(until)),
    });
    const narrow = scopeOf('narrow', '2026-01-02T03:30:00Z');
    const wide = scopeOf('wide', '2026-01-02T04:04:00Z');

    test('adopts again as of when one with another scope had watched', async () => {
      expect(await successor(narrow, wide)).toEqual({
        [ADOPTED_AT]: '2026-01-02T03:30:00Z',
        'reroll.dev/scope': 'wide',
        'reroll.dev/watched-until': '2026-01-02T04:04:00Z',
      });
    });

    test.each([
      ['the same scope', scopeOf('wide', '2026-01-02T03:30:00Z'), wide, 'wide'],
      ['a scope that it never came to watch', scopeOf('narrow', undefined), wide, 'wide'],
      ['no scope', undefined, wide, 'wide'],
      ['another scope, before it has watched itself', narrow, scopeOf('wide', undefined), 'narrow'],
    ])('keeps the time after one with %s', async (_, former, own, written) => {
      const annotations = await successor(former, own);
      expect(annotations).toMatchObject({
        [ADOPTED_AT]: '2026-01-02T03:04:05Z',
        'reroll.dev/scope': written,
      });
    });
  });

  test('times in the record are not believed: a Lease renewed in the year 2000 is held for its whole duration', async () => {
    const place = world();
    const metadata = { name: 'watcher', namespace: 'reroll', resourceVersion: '7' };
    const renewTime = '2000-01-01T00:00:00.000000Z';
    place.leases.lease = {
      metadata,
      spec: { holderIdentity: 'other', leaseDurationSeconds: 15, renewTime },
    };
    const second = candidate(place, 'second');
    second.elector.start();
    await place.clock.advance(14_000);
    expect(second.elector.isLeader()).toBe(false);
    await place.clock.advance(3500);
    expect(second.elector.isLeader()).toBe(true);
    expect(second.elector.leadership?.adoptedAt).toBe('2026-01-02T03:04:05Z');
    await second.elector.stop();
  });

  test('a leader whose Lease somebody deletes makes it again, adopted-at included, and goes on in its term', async () => {
    const { place, first, second } = await pair();
    place.leases.date += 3_600_000;
    place.leases.lease = undefined;
    await place.clock.advance(2000);
    expect(first.lost.length + second.lost.length).toBe(0);
    const [leader] = [first, second].filter(({ elector }) => elector.isLeader());
    expect(leader).toBe(first);
    expect(place.leases.lease).toMatchObject({
      metadata: { annotations: { [ADOPTED_AT]: '2026-01-02T03:04:05Z' } },
    });
    await Promise.all([first.elector.stop(), second.elector.stop()]);
  });
});

/** Leader and standby are there, and a third candidate that has just started. */
async function newcomer(
  place: ReturnType<typeof world>,
): Promise<{ third: Candidate; ready: AbortController }> {
  const ready = new AbortController();
  const third = candidate(place, 'third', { ready: ready.signal });
  third.elector.start();
  await place.clock.advance(100);
  return { third, ready };
}

describe('the address of the leader', () => {
  test('is known to a standby while the leader holds the Lease, and to nobody after that', async () => {
    const place = world();
    const first = candidate(place, 'first', { address: '10.0.0.1:8080' });
    first.elector.start();
    await place.clock.advance(0);
    const second = candidate(place, 'second');
    second.elector.start();
    await place.clock.advance(0);
    expect(second.elector.holderAddress).toBe('10.0.0.1:8080');
    // Nobody is handed on to himself.
    expect(first.elector.holderAddress).toBeUndefined();
    // A leader that has no address takes that of the one before it away.
    await first.elector.stop();
    expect(first.elector.holderAddress).toBeUndefined();
    await place.clock.advance(3000);
    expect(second.elector.isLeader()).toBe(true);
    expect(second.elector.holderAddress).toBeUndefined();
  });

  test('is not that of this process, though an earlier life of its pod still holds the Lease', async () => {
    const place = world();
    const address = '10.0.0.1:8080';
    const before = candidate(place, 'first', { address });
    before.elector.start();
    await place.clock.advance(0);
    before.api.reachable = false;
    const after = candidate(place, 'first', { address });
    const other = candidate(place, 'second', { address: '10.0.0.2:8080' });
    for (const { elector } of [after, other]) elector.start();
    await place.clock.advance(0);
    expect(after.elector.holder).toBe(before.elector.identity);
    expect(after.elector.holderAddress).toBeUndefined();
    expect(other.elector.holderAddress).toBe(address);
    await Promise.all([before, after, other].map(({ elector }) => elector.stop()));
  });
});

describe('who goes first', () => {
  test('a standby that was ready takes a released Lease, though one that was not asks for it first', async () => {
    const { place, first, second } = await pair();
    await first.elector.stop();
    const { third, ready } = await newcomer(place);
    ready.abort();
    await place.clock.advance(2900);
    expect([second.elector.isLeader(), third.elector.isLeader()]).toEqual([true, false]);
    await Promise.all([second.elector.stop(), third.elector.stop()]);
  });

  test('a standby that was ready takes an expired Lease, though it saw the last renewal later', async () => {
    const { place, first, second } = await pair();
    await place.clock.advance(8000);
    first.api.reachable = false;
    const { third, ready } = await newcomer(place);
    ready.abort();
    await place.clock.advance(20_000);
    expect([second.elector.isLeader(), third.elector.isLeader()]).toEqual([true, false]);
    await Promise.all([first, second, third].map(({ elector }) => elector.stop()));
  });

  test.each([
    ['that is ready soon takes it when the others have tried', true, 3000],
    ['that is not ready takes it after a Lease’s duration', false, 15_000],
  ])('when nobody else is there, a candidate %s', async (_name, becomesReady, after) => {
    const { place, first, second } = await pair();
    await second.elector.stop();
    await first.elector.stop();
    const { third, ready } = await newcomer(place);
    if (becomesReady) ready.abort();
    await place.clock.advance(after - 101);
    expect(third.elector.isLeader()).toBe(false);
    await place.clock.advance(1);
    expect(third.elector.isLeader()).toBe(true);
    await third.elector.stop();
  });

  test('a candidate that is not ready takes a Lease at once that has had no leader', async () => {
    const place = world();
    const { third } = await newcomer(place);
    expect(third.elector.isLeader()).toBe(true);
    await third.elector.stop();
    const other = world();
    const metadata = { name: 'watcher', namespace: 'reroll', resourceVersion: '7' };
    other.leases.lease = { metadata, spec: { holderIdentity: '', leaseDurationSeconds: 1 } };
    const { third: fourth } = await newcomer(other);
    expect(fourth.elector.isLeader()).toBe(true);
    await fourth.elector.stop();
  });
});

describe('losing it', () => {
  test('a leader that cannot renew stops at its deadline, before anybody else starts, and says so once', async () => {
    const { place, first, second } = await pair();
    first.api.reachable = false;
    await place.clock.advance(10_001);
    expect(first.elector.isLeader()).toBe(false);
    expect(second.elector.isLeader()).toBe(false);
    await place.clock.advance(20_000);
    expect(second.elector.isLeader()).toBe(true);
    expect(first.lost).toEqual(['RenewDeadlineExceeded']);
    expect(first.errors.length).toBeGreaterThan(2);
    first.api.reachable = true;
    await place.clock.advance(60_000);
    expect(first.elector.isLeader()).toBe(false);
    expect(first.acquired).toHaveLength(1);
    await Promise.all([first.elector.stop(), second.elector.stop()]);
    expect(place.leases.lease?.spec?.holderIdentity).toBe('');
  });

  test('a failure that passes before the deadline costs nothing', async () => {
    const { place, first, second } = await pair();
    first.api.reachable = false;
    await place.clock.advance(7000);
    first.api.reachable = true;
    await place.clock.advance(60_000);
    expect(first.elector.isLeader()).toBe(true);
    expect([...first.lost, ...second.acquired]).toEqual([]);
    await Promise.all([first.elector.stop(), second.elector.stop()]);
  });

  test('a leader that was frozen past its deadline knows it before any timer or answer of its own', async () => {
    const { place, first, second } = await pair();
    place.clock.freeze(11_000);
    expect(first.elector.isLeader()).toBe(false);
    expect(first.elector.leadership).toBeUndefined();
    expect(first.lost).toEqual(['RenewDeadlineExceeded']);
    await place.clock.advance(30_000);
    expect(first.lost).toHaveLength(1);
    expect(second.elector.isLeader()).toBe(true);
    await Promise.all([first.elector.stop(), second.elector.stop()]);
  });

  test('a leader that finds another holder in the Lease stops at once', async () => {
    const { place, first, second } = await pair();
    const { lease } = place.leases;
    if (lease === undefined) throw new Error('expected a Lease');
    place.leases.lease = {
      ...lease,
      metadata: { ...lease.metadata, resourceVersion: '900' },
      spec: { ...lease.spec, holderIdentity: 'thief' },
    };
    await place.clock.advance(2000);
    expect(first.elector.isLeader()).toBe(false);
    expect(first.lost).toEqual(['TakenOver']);
    await Promise.all([first.elector.stop(), second.elector.stop()]);
  });

  test('stopping while a first write is on its way gives back what that write may have taken', async () => {
    const place = world();
    const api = place.leases.connect();
    /** The write is done, its answer never comes. */
    const put: LeaseOptions['client']['put'] = async (path, body, options) => {
      await api.put(path, body);
      return new Promise((_resolve, reject) => {
        options?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        if (options?.signal === undefined) reject(new Error('expected a signal'));
      });
    };
    const client = { ...api, put };
    const elector = new LeaderElector({
      client,
      namespace: 'reroll',
      name: 'watcher',
      identity: 'first',
      clock: place.clock,
    });
    elector.start();
    await place.clock.advance(0);
    expect([elector.isLeader(), place.leases.lease?.spec?.holderIdentity]).toEqual([false, elector.identity]);
    client.put = api.put;
    await elector.stop();
    expect(place.leases.lease?.spec?.holderIdentity).toBe('');
  });

  test('stopping leaves no timer behind', async () => {
    const { place, first, second } = await pair();
    await Promise.all([first.elector.stop(), second.elector.stop()]);
    expect(place.clock.pending).toBe(0);
  });
});

describe('an etcd that is restored', () => {
  test('is told by leader and standby at their next attempt, and neither writes anything more', async () => {
    const { place, first, second } = await pair();
    const backup = place.leases.backUp();
    await place.clock.advance(20_000);
    place.leases.restore(backup);
    const seenNow = place.leases.lease?.metadata.resourceVersion;
    await place.clock.advance(2_400);
    expect(first.restored).toEqual([{ seenBefore: '113', seenNow }]);
    expect(second.restored).toEqual([{ seenBefore: '112', seenNow }]);
    expect(first.elector.isLeader()).toBe(false);
    await place.clock.advance(60_000);
    await Promise.all([first.elector.stop(), second.elector.stop()]);
    expect(place.leases.lease?.metadata.resourceVersion).toBe(seenNow);
    expect([...first.lost, ...second.acquired]).toEqual([]);
    expect(place.clock.pending).toBe(0);
  });

  test('to a state without a Lease is told by the leader that makes it again', async () => {
    const place = world();
    const backup = place.leases.backUp();
    const first = candidate(place, 'first');
    first.elector.start();
    await place.clock.advance(20_000);
    place.leases.restore(backup);
    await place.clock.advance(2_000);
    expect(first.restored).toHaveLength(1);
    expect(first.elector.isLeader()).toBe(false);
    await first.elector.stop();
  });

  test('is told by a new candidate that would lead under a term of before one that it knows', async () => {
    const place = world();
    const first = candidate(place, 'first', { earlierTerm: '1000' });
    first.elector.start();
    await place.clock.advance(0);
    expect(first.restored).toEqual([{ seenBefore: '1000', seenNow: '102' }]);
    expect(first.acquired).toEqual([]);
    await first.elector.stop();
  });

  test('is told by a leader that gives the Lease back, and leaves it as it is', async () => {
    const { place, first, second } = await pair();
    await second.elector.stop();
    const backup = place.leases.backUp();
    await place.clock.advance(20_000);
    place.leases.restore(backup);
    await first.elector.stop();
    expect(first.restored).toHaveLength(1);
    expect(place.leases.lease).toEqual(backup.lease);
  });

  test('is not told by a Lease that is deleted, released or taken over', async () => {
    const { place, first, second } = await pair();
    place.leases.lease = undefined;
    await place.clock.advance(10_000);
    await first.elector.stop();
    await place.clock.advance(10_000);
    expect(second.elector.isLeader()).toBe(true);
    const third = candidate(place, 'third', { earlierTerm: second.acquired[0]?.term });
    third.elector.start();
    await second.elector.stop();
    await place.clock.advance(10_000);
    expect(third.elector.isLeader()).toBe(true);
    expect([...first.restored, ...second.restored, ...third.restored]).toEqual([]);
    await third.elector.stop();
  });
});

describe('settings that cannot work are refused', () => {
  const base = { client: new FakeLeases().connect(), namespace: 'n', name: 'l', identity: 'i' };
  const cases: [string, Partial<LeaseOptions>, RegExp][] = [
    [
      'a lease not longer than the renew deadline',
      { leaseDurationMs: 10_000 },
      /^leaseDurationMs: expected more than renewDeadlineMs \(10000\), given 10000$/,
    ],
    [
      'a renew deadline that leaves no room for a second try',
      { renewDeadlineMs: 2400 },
      /^renewDeadlineMs: expected more than 1.2 \* retryPeriodMs \(2400\), given 2400$/,
    ],
    ['no retry period', { retryPeriodMs: 0 }, /^retryPeriodMs: expected more than 0, given 0$/],
    ['a fraction of a second', { leaseDurationMs: 15_500 }, /expected whole seconds, given 15500$/],
    [
      'several at once',
      { leaseDurationMs: 1000, renewDeadlineMs: 2000, retryPeriodMs: 2000 },
      /^renewDeadlineMs: .*; leaseDurationMs: /,
    ],
  ];
  test.each(cases)('%s', (_name, times, message) => {
    expect(() => new LeaderElector({ ...base, ...times })).toThrow(message);
  });
});
