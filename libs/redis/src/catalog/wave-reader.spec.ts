import { recordHash } from '@reroll/core/record/record-hash';
import { writeRecord } from '@reroll/core/record/record';
import { NO_TRIGGERS } from '@reroll/core/state/settings';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import type { SourceRow, WorkloadRow } from '@reroll/core/state/rows';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { RolloutsKnown } from '../history/rollouts.ts';
import { WaveReader, type WaveReaderSettings } from './wave-reader.ts';

const DB: SourceKey = 'Secret/shop/db';
const NEW = recordHash({ data: { v: 'bmV3' } }, []);
const OLD = recordHash({ data: { v: 'b2xk' } }, []);
const key = (name: string): WorkloadKey =>
  name.includes('/') ? (name as WorkloadKey) : `Deployment/shop/${name}`;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const SOURCE = {
  hash: NEW,
  rv: '20',
  dataRv: '20',
  exists: true,
  modifiedAt: 0,
  annotations: {},
} as SourceRow;

function row(hash: string, more: Partial<WorkloadRow> = {}): WorkloadRow {
  return {
    dependencies: ['Secret/db'],
    unverified: [],
    baselines: {},
    marks: [],
    annotations: {},
    stale: [],
    templateRv: '10',
    record: writeRecord({ 'Secret/db': hash }),
    ...more,
  } as unknown as WorkloadRow;
}

/** A catalog with these rows; and what was asked of it, in order. */
function reader(
  rows: Record<string, WorkloadRow>,
  known: Partial<RolloutsKnown> = {},
  more: Partial<WaveReaderSettings> = {},
) {
  const asked: string[] = [];
  const present = { source: SOURCE as SourceRow | undefined, fails: false };
  const catalog = {
    sources: async () => {
      asked.push('source');
      if (present.fails) throw new Error('Redis is away');
      return new Map(present.source ? [[DB, present.source]] : []);
    },
    users: async () => Object.keys(rows).map(key),
    eachWorkloadOf: async function* (keys: readonly WorkloadKey[]) {
      for (let at = 0; at < keys.length; at += 500) {
        const some = keys.slice(at, at + 500);
        asked.push(`${some.length} rows`);
        yield new Map(
          some.map((each) => [each, (rows[each] ?? rows[each.split('/')[2] ?? '']) as WorkloadRow]),
        );
      }
    },
  };
  const rollouts = {
    known: async (keys: readonly WorkloadKey[]) => {
      asked.push(`${keys.length} rollouts`);
      return { since: 5, of: new Map(), ...known };
    },
  };
  const reading = new WaveReader(catalog, rollouts);
  const settings: WaveReaderSettings = { triggers: NO_TRIGGERS, adoptStale: 'report', ...more };
  return { waves: { progress: () => reading.progress(DB, settings) }, asked, present };
}

it('tells of each workload that the change concerns whether it has it, in order', async () => {
  const { waves } = reader({
    old: row(OLD),
    new: row(NEW, { annotations: { 'reroll.dev/wave': '0' } }),
    other: row(OLD, { dependencies: ['Secret/x'] }),
    // What is left alone has no dependencies, so this is one with --recreate-finished-jobs.
    'Job/shop/migrate': row(OLD, { leftAlone: 'JobFinished' }),
    done: row(OLD, { leftAlone: 'JobFinished', dependencies: [] }),
  });
  const rollout = { state: 'complete', at: 5 };
  expect((await waves.progress()).members).toEqual([
    { workload: key('new'), wave: 0, isReloaded: true, rollout },
    { workload: key('old'), wave: Infinity, isReloaded: false, rollout },
    { workload: 'Job/shop/migrate', wave: Infinity, isReloaded: false, rollout },
  ]);
});

it.each([
  ['report', true],
  ['reload', false],
] as const)(
  'with --adopt-stale=%s, what was never recorded and may run old data has it: %s',
  async (how, isReloaded) => {
    const { waves } = reader(
      { web: row(NEW, { record: undefined, templateRv: '30', stale: ['Secret/db'] }) },
      {},
      { adoptStale: how },
    );
    expect((await waves.progress()).members).toMatchObject([{ isReloaded }]);
  },
);

it.each([
  ['run', 0],
  ['patch', 1],
] as const)(
  'with --cronjob-strategy=%s, a CronJob that is suspended takes %s places',
  async (cronJobStrategy, places) => {
    const asleep = row(OLD, { isSuspended: true });
    const { waves } = reader({ 'CronJob/shop/report': asleep }, {}, { cronJobStrategy });
    expect((await waves.progress()).members).toHaveLength(places);
  },
);

const ENTRY = { since: 7, at: 8, generation: 1, updated: 1, ready: 0, desired: 1, conditions: [] };

it.each([
  [
    { state: 'progressing', code: 'Updating', ...ENTRY },
    { state: 'underWay', since: 7 },
  ],
  [{ state: 'progressing', code: 'Paused', ...ENTRY }, { state: 'paused' }],
  [{ state: 'progressing', code: 'AwaitingDeletion', ...ENTRY }, { state: 'paused' }],
  [
    { state: 'stuck', code: 'ProgressDeadlineExceeded', ...ENTRY },
    { state: 'stuck', code: 'ProgressDeadlineExceeded' },
  ],
  [{ completeAt: 6 }, { state: 'complete', at: 6 }],
  [
    { completeAt: 6, unavailableSince: 9 },
    { state: 'unavailable', since: 9 },
  ],
])('takes %j for %j', async (entry, rollout) => {
  const { waves } = reader({ web: row(NEW) }, { of: new Map([[key('web'), entry]]) as never });
  expect((await waves.progress()).members).toMatchObject([{ rollout }]);
});

it.each(['Job/shop/migrate', 'CronJob/shop/report'] as const)(
  'takes %s for complete, whatever its run comes to',
  async (workload) => {
    const running = { state: 'progressing', code: 'Updating', ...ENTRY };
    const { waves } = reader({ [workload]: row(NEW) }, { of: new Map([[workload, running]]) as never });
    expect((await waves.progress()).members).toMatchObject([
      { workload, isReloaded: true, rollout: { state: 'complete', at: 5 } },
    ]);
  },
);

it('knows nothing before a leader has told since when it knows of rollouts', async () => {
  const { waves } = reader({ web: row(NEW) }, { since: undefined });
  expect(await waves.progress()).toEqual({ source: SOURCE, members: undefined });
});

it('reads rows before rollouts, in portions, and once for all who ask within two milliseconds for each', async () => {
  const rows = Object.fromEntries(Array.from({ length: 1_200 }, (_, at) => [`w${at}`, row(OLD)]));
  const { waves, asked } = reader(rows);
  const once = ['source', '500 rows', '500 rollouts', '500 rows', '500 rollouts', '200 rows', '200 rollouts'];
  await Promise.all([waves.progress(), waves.progress()]);
  vi.advanceTimersByTime(2_399);
  await waves.progress();
  expect(asked).toEqual(once);
  vi.advanceTimersByTime(1);
  await waves.progress();
  expect(asked).toHaveLength(2 * once.length);
});

it('asks again after an error, and of a source that is not there', async () => {
  const { waves, present } = reader({ web: row(OLD) });
  present.fails = true;
  await expect(waves.progress()).rejects.toThrow('Redis is away');
  present.fails = false;
  present.source = undefined;
  expect(await waves.progress()).toEqual({ source: undefined, members: [] });
});
