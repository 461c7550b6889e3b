import { beforeAll, describe, expect, it } from 'vitest';
import { streamKey } from '@reroll/redis/history/history';
import { changed, reloaded, rollout } from '@reroll/core/testing/history';
import { AdminApi, TOKENS, OPERATOR, tokensFile, type StaticToken } from '../support/admin/admin-api.ts';
import { sharedCluster } from '../support/cluster.ts';
import { EventReader } from '../support/admin/event-reader.ts';
import { connect, namespace } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

/** The history is written as a worker writes it; no watcher and no worker disturbs it. */
const IN_SHOP: StaticToken = {
  name: 'in-shop',
  token: 'token-in-shop',
  access: 'read',
  namespaces: ['shop'],
};
let reroll: Reroll;
let first: AdminApi;
let second: AdminApi;
let written = 0;

/** The id of a new change of a ConfigMap in the namespace `shop`. */
async function change(more: Parameters<typeof changed>[1] = {}): Promise<string> {
  written += 1;
  await reroll.history.addChange(changed(Date.now(), { hash: `1.${written}`, ...more }));
  const [latest] = await reroll.history.latest('changes', 1);
  return latest?.id ?? '';
}

function ids(reader: EventReader): unknown[] {
  return reader.named('change').map(({ data }) => data.id);
}

async function lists(api: AdminApi, id: string): Promise<void> {
  await eventually(async () => (await api.request('getChange', { params: { id } })).ok);
}

beforeAll(async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const file = tokensFile([OPERATOR, IN_SHOP]);
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 0,
    workers: 0,
    admins: 2,
    adminFlags: ['--auth=static', `--static-tokens-file=${file}`],
  });
  const [one, two] = reroll.admins;
  if (!one || !two) throw new Error('expected two admins');
  first = new AdminApi(one, TOKENS.operator);
  second = new AdminApi(two, TOKENS.operator);
});

describe('a stream of events', () => {
  it('has changes, outcomes and rollouts as they come, each joined to what it belongs to', async () => {
    const reader = await EventReader.open(first);
    const id = await change();
    await eventually(() => reader.named('change').length > 0);
    const now = Date.now();
    await reroll.history.addOutcome(reloaded(now, { at: now }));
    await eventually(() => reader.named('outcome').length > 0);
    await reroll.redis.xadd(
      streamKey(reroll.catalog.keys, 'rollouts'),
      '*',
      'entry',
      JSON.stringify(rollout(2, { since: now, at: now })),
    );
    await eventually(() => reader.named('rollout').length > 0);
    expect(reader.events.map(({ name }) => name)).toEqual(['change', 'outcome', 'rollout']);
    expect(reader.named('change')[0]?.data).toMatchObject({ id, cause: 'updated', states: { pending: 1 } });
    expect(reader.named('outcome')[0]?.data).toMatchObject({ change: id, state: 'reloaded' });
    expect(reader.named('rollout')[0]?.data).toMatchObject({ rollout: { state: 'complete', generation: 2 } });
    expect((await first.call('getChange', { params: { id } })).workloads[0]).toMatchObject({
      state: 'rolledOut',
    });
  });

  it('goes on at another admin where it was left, without a gap and without anything twice', async () => {
    const before = await EventReader.open(first);
    const seen = await change();
    await eventually(() => ids(before).includes(seen));
    const { lastId } = before;
    before.close();
    const missed = [await change(), await change()];
    const after = await EventReader.open(second, { lastEventId: lastId });
    const last = await change();
    await eventually(() => ids(after).includes(last));
    expect(ids(after)).toEqual([...missed, last]);
  });

  it('tells who may list the audit log of it', async () => {
    const reader = await EventReader.open(first);
    await first.call('setLimits', {
      body: { concurrency: 4, reloadsPerMinute: null, reason: 'for the events' },
    });
    await eventually(() => reader.named('audit').length > 0);
    expect(reader.named('audit')[0]?.data).toMatchObject({ action: 'setLimits', reason: 'for the events' });
  });

  it('begins with a reset if what came since its last event is not kept any more', async () => {
    const before = await EventReader.open(first);
    await change();
    await eventually(() => ids(before).length === 1);
    before.close();
    await change();
    const kept = await change();
    await reroll.redis.xtrim(reroll.catalog.keys.changes, 'MINID', kept);
    const after = await eventually(async () => {
      const reader = await EventReader.open(first, { lastEventId: before.lastId });
      const last = await change();
      await eventually(() => ids(reader).includes(last));
      reader.close();
      return reader.named('reset').length > 0 && reader;
    });
    expect(after.events[0]?.name).toBe('reset');
  });

  it('is told to begin anew when Redis is emptied, and the lists are of what there is then', async () => {
    const reader = await EventReader.open(second);
    const gone = await change();
    await eventually(() => ids(reader).includes(gone));
    const { keys } = reroll.catalog;
    await reroll.redis.del(keys.changes, keys.outcomes, keys.rolloutHistory, keys.audit);
    await eventually(() => reader.named('reset').length > 0);
    expect((await second.call('listChanges', {})).items).toEqual([]);
    const id = await change();
    await eventually(() => ids(reader).includes(id));
    await lists(second, id);
    expect(await second.problem('getChange', { params: { id: gone } })).toMatchObject({ code: 'NotFound' });
  });

  it('is refused to a caller who has ten already', async () => {
    const api = second.as(IN_SHOP.token);
    const readers = await Promise.all(Array.from({ length: 10 }, () => EventReader.open(api)));
    expect(await api.problem('streamEvents')).toMatchObject({ code: 'TooManyRequests' });
    readers[0]?.close();
    await eventually(async () => {
      readers.push(await EventReader.open(api));
      return true;
    });
    for (const reader of readers) reader.close();
  });
});

describe('a page of changes', () => {
  it('neither repeats nor leaves out what was there when the first was asked for, at either admin', async () => {
    const all: string[] = [];
    for (let count = 0; count < 7; count += 1)
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      all.push(await change({ source: 'ConfigMap/shop/paged' }));
    await Promise.all([lists(first, all[6] ?? ''), lists(second, all[6] ?? '')]);
    const found: string[] = [];
    let cursor: string | null | undefined;
    let turn = 0;
    do {
      const api = [first, second][turn % 2] ?? first;
      turn += 1;
      // oxlint-disable-next-line no-await-in-loop -- page after page
      const page = await api.call('listChanges', {
        query: { source: 'ConfigMap/shop/paged', limit: 3, ...(cursor ? { cursor } : {}) },
      });
      found.push(...page.items.map(({ id }) => id));
      cursor = page.next;
      // oxlint-disable-next-line no-await-in-loop -- between the pages
      await change({ source: 'ConfigMap/shop/paged' });
    } while (cursor);
    expect(found).toEqual(all.toReversed());
  });
});

describe('an admin that ends', () => {
  it('ends its streams', async () => {
    const [, admin] = reroll.admins;
    const reader = await EventReader.open(second);
    await Promise.all([admin?.stop(), reader.ended]);
    expect(admin?.isRunning).toBe(false);
  });
});
