import { HistoryJoin, type Pair } from '@reroll/core/history/join';
import { liveState, stateOf, type LiveJob } from '@reroll/core/history/states';
import { changed, reloaded, retrying } from '@reroll/core/testing/history';
import { changesQuery } from '@reroll/shared/api/changes';
import { describe, expect, it } from 'vitest';
import { listChanges, type ChangePage } from './change-list.ts';
import { NamespacesAsked } from './namespaces-asked.ts';

/** Ten changes, alternately in the namespaces `even` and `odd`. The first is still pending, the third has failed. */
function history(): HistoryJoin {
  const join = new HistoryJoin();
  for (let at = 0; at < 10; at += 1) {
    const namespace = at % 2 === 0 ? 'even' : 'odd';
    const workload = `Deployment/${namespace}/w${at}` as const;
    const source = `ConfigMap/${namespace}/cm` as const;
    const since = 1000 + at * 100;
    const cause = at === 4 ? 'created' : 'updated';
    join.addChange(
      `${since}-0`,
      changed(since, { source, cause, woken: [{ workload, reason: 'AutoReload', detail: '' }] }),
    );
    if (at === 2) join.addOutcome(`${since}-1`, retrying(since, { workload, state: 'failed' }));
    else if (at > 0) join.addOutcome(`${since}-1`, reloaded(since, { workload }));
  }
  return join;
}

async function list(
  query: Record<string, unknown>,
  by: { seen?: readonly string[]; job?: LiveJob; before?: string } = {},
): Promise<ChangePage> {
  const { seen = ['even', 'odd'], job = null } = by;
  const state = (pair: Pair) => (job ? liveState(pair, { job, now: 2000 }) : stateOf(pair));
  return await listChanges(changesQuery.parse(query), by.before, {
    join: history(),
    namespaces: new NamespacesAsked({
      all: false,
      sees: (namespace) => Promise.resolve(seen.includes(namespace)),
    }),
    look: () =>
      Promise.resolve({
        stateOf: state,
        jobOf: () => undefined,
        rolloutOf: () => undefined,
        latestOf: () => undefined,
      }),
  });
}

function times({ items }: ChangePage): number[] {
  return items.map(({ change }) => change.since);
}

const DELAYED: LiveJob = { id: '1', state: 'delayed', until: 9_000, made: 0, most: 5 };

describe('a list of changes', () => {
  it.each<[string, Record<string, unknown>, number[]]>([
    ['newest first', { limit: 3 }, [1900, 1800, 1700]],
    ['of a namespace', { namespace: 'odd', limit: 2 }, [1900, 1700]],
    ['of a source', { source: 'ConfigMap/even/cm' }, [1800, 1600, 1400, 1200, 1000]],
    ['of a workload', { workload: 'Deployment/odd/w3' }, [1300]],
    [
      'of a workload and a source that has nothing to do with it',
      { workload: 'Deployment/odd/w3', source: 'ConfigMap/even/cm' },
      [],
    ],
    ['of a cause', { cause: 'created' }, [1400]],
    ['since a time', { since: new Date(1750).toISOString() }, [1900, 1800]],
    [
      'since a time, until another',
      { since: new Date(1500).toISOString(), until: new Date(1700).toISOString() },
      [1600, 1500],
    ],
    ['that have failed', { state: 'failed' }, [1200]],
    ['that wait', { state: 'pending' }, [1000]],
    ['that are rolled out, of which there is none', { state: 'rolledOut' }, []],
  ])('has those %s', async (_, query, expected) => {
    expect(times(await list(query))).toEqual(expected);
  });

  it('goes by what the jobs say now', async () => {
    expect(times(await list({ state: 'delayed' }, { job: DELAYED }))).toEqual([1000]);
    expect(times(await list({ state: 'pending' }, { job: DELAYED }))).toEqual([]);
  });

  it('has nothing of a namespace that the caller does not see, and its pages are full of the others', async () => {
    const page = await list({ limit: 3 }, { seen: ['even'] });
    expect(times(page)).toEqual([1800, 1600, 1400]);
    expect(times(await list({ limit: 3 }, { seen: ['even'], before: page.last ?? '' }))).toEqual([
      1200, 1000,
    ]);
    expect(await list({}, { seen: [] })).toEqual({ items: [], last: undefined });
  });

  it('ends with the oldest', async () => {
    expect((await list({ limit: 9 })).last).toBe('1100-0');
    expect((await list({ limit: 10 })).last).toBeUndefined();
    expect((await list({}, { before: '1100-0' })).last).toBeUndefined();
  });
});
