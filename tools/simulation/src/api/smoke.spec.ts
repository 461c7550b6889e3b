import type { Clock } from '@reroll/kube/client/clock';
import { KubeClient } from '@reroll/kube/client/connection';
import { LeaderElector } from '@reroll/kube/lease/lease';
import { follow, type FollowOptions } from '@reroll/kube/testing/following';
import { describe, expect, test } from 'vitest';
import type { Owner } from '../scheduler.ts';
import { simulatedKubeConfig, SimulatedApi, type SimulatedApiOptions } from './simulated-api.ts';
import { virtualTime } from './testing/virtual-time.ts';

const PATH = '/api/v1/configmaps';

/** The product's own Reflector and LeaderElector, in virtual time. */
function setup(options: Partial<SimulatedApiOptions> = {}) {
  const time = virtualTime();
  const api = new SimulatedApi({ scheduler: time, ...options });
  const world = api.as('owner');
  world.create({ kind: 'Namespace', namespace: '' }, { metadata: { name: 'shop' } });
  const write = (name: string, v: string): void => {
    const id = { kind: 'ConfigMap', namespace: 'shop', name };
    if (world.get(id) === undefined) world.create(id, { metadata: { name }, data: { v } });
    else world.patch(id, { data: { v } });
  };
  const remove = (name: string): void => void world.delete({ kind: 'ConfigMap', namespace: 'shop', name });
  const connect = (owner: Owner): KubeClient =>
    new KubeClient({
      load: () => simulatedKubeConfig(),
      openPool: () => api.pool(owner),
      userAgent: 'spec/0',
    });
  const clockOf = (owner: Owner): Clock => ({
    now: () => time.now(),
    after: (ms, task) => time.after(ms, owner, task),
  });
  const watcher: Owner = { name: 'watcher', isAlive: true };
  const following = (more: Partial<FollowOptions> = {}) =>
    follow({ client: connect(watcher), path: PATH, clock: clockOf(watcher), ...more });
  return { time, api, write, remove, connect, clockOf, following };
}

describe('the Reflector', () => {
  test.each([true, false])('follows a collection (streamed lists: %s)', async (streamedLists) => {
    const { time, write, remove, following } = setup();
    for (const name of ['a', 'b', 'c']) write(name, '1');
    const { seen, reflector, reports } = following({ streamedLists, pageSize: 2 });
    await time.run(100);
    expect(reports.seen).toContain(`listed 3 ${streamedLists ? 'streamed' : 'paged'}`);
    write('a', '2');
    remove('b');
    write('d', '1');
    await time.run(100);
    expect(Object.fromEntries(seen.present)).toEqual({ a: '2', c: '1', d: '1' });
    expect(seen.told.slice(-3)).toEqual(['MODIFIED a=2', 'DELETED b=1', 'ADDED d=1']);
    expect(reflector.status).toMatchObject({ synced: true, relists: 0, reconnects: 0 });
  });

  test('lists in pages where the server knows no streamed lists', async () => {
    const { time, api, write, following } = setup();
    api.server().isWatchListKnown = false;
    write('a', '1');
    const { reports } = following();
    await time.run(100);
    expect(reports.seen).toEqual(['relist first', 'listed 1 paged', 'synced']);
  });

  test('goes on after a cut, and sees what happened meanwhile', async () => {
    const { time, api, write, following } = setup();
    write('a', '1');
    const { seen, reflector } = following();
    await time.run(10_000);
    for (const how of ['end', 'reset'] as const) {
      api.server().cutWatches(how);
      write('a', how);
      await time.run(10_000);
    }
    expect(seen.present.get('a')).toBe('reset');
    expect(reflector.status).toMatchObject({ synced: true, relists: 0, reconnects: 2 });
  });

  test('lists again where the history is no more', async () => {
    const { time, api, write, following } = setup();
    write('a', '1');
    const { seen, reports } = following();
    await time.run(10_000);
    api.server().stop();
    write('a', '2');
    await time.run(1_000);
    api.server().start();
    await time.run(10_000);
    expect(reports.seen).toContain('failure 410');
    expect(seen.present.get('a')).toBe('2');
  });

  test('resumes a watch that fell silent, at the bookmarks', async () => {
    const { time, api, write, following } = setup();
    write('a', '1');
    const { seen, reflector } = following();
    await time.run(10_000);
    for (const watch of api.watches) watch.silence();
    write('a', '2');
    await time.run(80_000);
    expect(seen.present.get('a')).toBe('1');
    await time.run(20_000);
    expect(seen.present.get('a')).toBe('2');
    expect(reflector.status).toMatchObject({ reconnects: 1, relists: 0 });
    await time.run(3_600_000);
    // Bookmarks kept it alive: only the watches' own timeouts ended them.
    expect(reflector.status.reconnects).toBeLessThan(14);
    expect(reflector.status.relists).toBe(0);
  });

  test('does not see what a server that is cut off from etcd does not know', async () => {
    const { time, api, write, following } = setup();
    write('a', '1');
    const { seen } = following();
    await time.run(1_000);
    api.server().cutOff();
    write('a', '2');
    await time.run(60_000);
    expect(seen.present.get('a')).toBe('1');
    api.server().reconnect();
    await time.run(100);
    expect(seen.present.get('a')).toBe('2');
  });

  test('lags with the cache of its server', async () => {
    const { time, api, write, following } = setup();
    api.server().lag = ({ kind }) => (kind === 'ConfigMap' ? 500 : 0);
    const { seen } = following();
    await time.run(100);
    write('a', '1');
    await time.run(400);
    expect(seen.present.get('a')).toBeUndefined();
    await time.run(200);
    expect(seen.present.get('a')).toBe('1');
  });

  test('waits for a revision of the future after a restore without a bump', async () => {
    const { time, api, write, following } = setup();
    write('a', '1');
    const backup = api.backUp();
    for (const value of ['2', '3', '4', '5']) write('a', value);
    const { seen } = following();
    await time.run(1_000);
    api.restore(backup);
    write('a', '6');
    await time.run(60_000);
    expect(seen.present.get('a')).toBe('5');
    await time.run(400_000);
    expect(seen.present.get('a')).toBe('6');
  });
});

describe('the LeaderElector', () => {
  test('makes one leader, and another one after that was killed', async () => {
    const { time, connect, clockOf } = setup();
    const owners = ['one', 'two'].map((name): Owner => ({ name, isAlive: true }));
    const [one, two] = owners.map((owner) => {
      const lease = { namespace: 'shop', name: 'reroll', identity: owner.name };
      const elector = new LeaderElector({
        ...lease,
        client: connect(owner),
        clock: clockOf(owner),
        random: () => 0.5,
      });
      elector.start();
      return elector;
    });
    await time.run(60_000);
    const leaders = [one, two].filter((elector) => elector?.isLeader());
    expect(leaders).toHaveLength(1);
    const [leader] = leaders;
    const other = leader === one ? two : one;
    for (const owner of owners) if (leader?.identity.startsWith(owner.name)) owner.isAlive = false;
    await time.run(60_000);
    expect(other?.isLeader()).toBe(true);
    expect(Number(other?.leadership?.term)).toBeGreaterThan(100);
  });

  test('notices an etcd that was restored', async () => {
    const { time, api, connect, clockOf } = setup();
    const owner: Owner = { name: 'one', isAlive: true };
    const restored: unknown[] = [];
    const elector = new LeaderElector({
      namespace: 'shop',
      name: 'reroll',
      identity: 'one',
      client: connect(owner),
      clock: clockOf(owner),
      callbacks: { onRestored: (versions) => restored.push(versions) },
    });
    elector.start();
    await time.run(10_000);
    const backup = api.backUp();
    await time.run(10_000);
    api.restore(backup);
    await time.run(10_000);
    expect(restored).toHaveLength(1);
  });
});
