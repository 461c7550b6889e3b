import type { HoldReason } from '@reroll/core/holds/hold';
import type { PassedHold } from '@reroll/core/holds/passed';
import { REQUEST_ANNOTATION } from '@reroll/core/reload/request';
import { recordedHashes, recordedReloads, RECORD_ANNOTATION, writeRecord } from '@reroll/core/record/record';
import type { ReloadJob } from '@reroll/redis/queue/jobs';
import type { WaveMember } from '@reroll/core/holds/waves';
import type { SourceRow } from '@reroll/core/state/rows';
import { NO_TRIGGERS } from '@reroll/core/state/settings';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { refusal } from '../testing/fake-api.ts';
import { all, asked, CM, hashOf, KEYS, REQUEST, Scene, settled, type Change } from '../testing/scene.ts';
import { ReloadHolds } from './reload-holds.ts';

const FAR = '2999-01-01T00:00:00Z';

const annotated =
  (more: Record<string, string>): Change =>
  (scene) =>
    void (scene.annotations = { [KEYS.auto]: 'true', ...more });
const inNamespace =
  (annotations: Record<string, string>): Change =>
  (scene) =>
    void (scene.namespaceAnnotations = annotations);
const unread: Change = (scene) => {
  scene.unread = true;
  scene.reading = 'fresh';
};
const frozen = { 'reroll.dev/freeze': `${FAR}; audit` };

function recordOfScene(scene: Scene): string | undefined {
  return scene.object.metadata.annotations?.[RECORD_ANNOTATION];
}

const HELD: readonly (readonly [string, Change, string])[] = [
  ['a freeze of the workload', annotated(frozen), 'Frozen'],
  ['a freeze of its namespace', inNamespace(frozen), 'Frozen'],
  ['a freeze of the installation', inNamespace({ 'reroll.dev/freeze-all': '' }), 'Frozen'],
  ['a window', annotated({ 'reroll.dev/window': 'whenever' }), 'OutsideWindow'],
  ['an approval', annotated({ 'reroll.dev/approval': 'required' }), 'AwaitsApproval'],
  ['an approval by default', (scene) => void (scene.holds = { approval: 'required' }), 'AwaitsApproval'],
  [
    'a limit',
    (scene) => {
      const times = [Math.floor(Date.now() / 1000)];
      scene.holds = { limit: '1/1h' };
      scene.record = writeRecord({ [CM]: hashOf('old') }, undefined, { times, level: 0 });
    },
    'TooOften',
  ],
];

describe.each(HELD)('%s', (_, hold, reason) => {
  it.each([
    ['read', () => undefined],
    ['not read', unread],
    ['reloaded in a dry run', (scene: Scene) => void (scene.settings = { dryRun: true })],
  ])('keeps the workload as it is if it is %s', async (_how, how: Change) => {
    const scene = new Scene(all(hold, how));
    const before = scene.object;
    const outcome = await scene.run();
    expect(outcome).toMatchObject({ state: 'unchanged', reason, rolled: [], sources: { [CM]: 'Roll' } });
    expect(outcome.hold?.detail).not.toBe('');
    expect([scene.object, scene.api.writes]).toEqual([before, []]);
  });

  it('does not keep the record from being corrected', async () => {
    const scene = new Scene(all(hold, (changed) => void (changed.row = { templateRv: '25' })));
    expect(await scene.run()).toMatchObject({ state: 'recorded', reason: 'BroughtByOwner' });
    expect(recordedHashes(recordOfScene(scene))).toEqual({ [CM]: hashOf('new') });
  });

  it.each([
    ['read', () => undefined],
    ['not read', unread],
  ])('keeps the workload out of the line of reloads per minute if it is %s', async (_how, how: Change) => {
    const scene = new Scene(all(hold, how, (changed) => void (changed.budget = [])));
    expect(await scene.run()).toMatchObject({ reason });
    expect(scene.slot).toEqual(['ask']);
  });

  it('holds a manual reload', async () => {
    const scene = new Scene(all(hold, asked, settledBut(hold)));
    expect(await scene.run()).toMatchObject({ state: 'unchanged', reason, request: REQUEST });
    expect(scene.api.writes).toEqual([]);
  });
});

const passing =
  (...passes: PassedHold[]): Change =>
  (scene) =>
    void (scene.request = { ...REQUEST, passes });

test.each(HELD)(
  'a manual reload that passes %s is done, with what else is pending',
  async (_, hold, reason) => {
    const passes = all(hold, passing(reason as HoldReason, 'InstallationFrozen'));
    expect(await new Scene(passes).run()).toMatchObject({ state: 'reloaded', rolled: [CM] });
    const others = (['Frozen', 'OutsideWindow', 'AwaitsApproval', 'TooOften'] as const).filter(
      (each) => each !== reason,
    );
    expect(await new Scene(all(hold, passing(...others))).run()).toMatchObject({
      state: 'unchanged',
      reason,
    });
  },
);

test('a request that is done passes nothing', async () => {
  const done: Change = (scene) => void (scene.templateAnnotations = { [REQUEST_ANNOTATION]: REQUEST.id });
  const outcome = await new Scene(all(annotated(frozen), passing('Frozen'), done)).run();
  expect(outcome).toMatchObject({ state: 'unchanged', reason: 'Frozen' });
});

/** The data is recorded, with the reloads that the hold needs. */
function settledBut(hold: Change): Change {
  const { record } = new Scene(hold);
  const reloads = recordedReloads(record);
  return reloads.times.length === 0
    ? settled
    : (scene) => void (scene.record = writeRecord({ [CM]: hashOf('new') }, undefined, reloads));
}

test('what is approved is reloaded, once', async () => {
  const required = { 'reroll.dev/approval': 'required' };
  const detail = (await new Scene(annotated(required)).run()).hold?.detail ?? '';
  const [, id = ''] = /has the id ([0-9a-f]{10})\./.exec(detail) ?? [];
  const approved = annotated({ ...required, 'reroll.dev/approved': id });
  for (const how of [approved, all(approved, unread)])
    expect(await new Scene(how).run()).toMatchObject({ state: 'reloaded', rolled: [CM] });
  const later = all(approved, (scene) => {
    scene.sourceRow = { rv: '21', dataRv: '21' };
    scene.source = { rv: '21' };
  });
  expect(await new Scene(later).run()).toMatchObject({ state: 'unchanged', reason: 'AwaitsApproval' });
});

describe('a reload under a limit', () => {
  it.each([
    ['read', () => undefined],
    ['not read', unread],
  ])('is recorded with its time, if the workload is %s', async (_how, how: Change) => {
    const scene = new Scene(all(how, (changed) => void (changed.holds = { limit: '10/10m' })));
    const from = Math.floor(Date.now() / 1000);
    expect(await scene.run()).toMatchObject({ state: 'reloaded' });
    const { times } = recordedReloads(recordOfScene(scene));
    expect(times).toHaveLength(1);
    expect(times[0]).toBeGreaterThanOrEqual(from);
    expect(times[0]).toBeLessThanOrEqual(Math.floor(Date.now() / 1000) + 2);
  });

  it('is recorded alone if times of the record cannot be', async () => {
    const inTwoDays = Math.floor(Date.now() / 1000) + 2 * 86_400;
    const scene = new Scene((changed) => {
      changed.holds = { limit: '2/10m' };
      changed.record = writeRecord({ [CM]: hashOf('old') }, undefined, { times: [inTwoDays], level: 0 });
    });
    expect(await scene.run()).toMatchObject({ state: 'reloaded' });
    const { times } = recordedReloads(recordOfScene(scene));
    expect(times).toEqual([expect.toSatisfy((time: number) => time < inTwoDays)]);
  });

  it.each([
    ['read', () => undefined],
    ['not read', unread],
  ])('is recorded by the clock of the API server, if the workload is %s', async (_how, how: Change) => {
    const date = Math.floor(Date.now() / 1000) * 1000 + 3_600_000;
    const scene = new Scene(
      all(how, (changed) => {
        changed.holds = { limit: '10/10m' };
        changed.api.date = date;
      }),
    );
    expect(await scene.run()).toMatchObject({ state: 'reloaded' });
    expect(recordedReloads(recordOfScene(scene)).times).toEqual([date / 1000 + 1]);
  });

  it('is recorded by a manual reload too, which changes nothing else in the record', async () => {
    const scene = new Scene(all(asked, settled, (changed) => void (changed.holds = { limit: '10/10m' })));
    expect(await scene.run()).toMatchObject({ state: 'reloaded' });
    const record = recordOfScene(scene);
    expect(recordedReloads(record).times).toHaveLength(1);
    expect(recordedHashes(record)).toEqual({ [CM]: hashOf('new') });
  });

  it('is not recorded if the annotations have no room for its time', async () => {
    const scene = new Scene((changed) => {
      changed.holds = { limit: '10/10m' };
      changed.annotations = { ...changed.annotations, filler: 'x'.repeat(262_000) };
    });
    expect(await scene.run()).toMatchObject({ state: 'reloaded' });
    expect(recordOfScene(scene)).toBe(writeRecord({ [CM]: hashOf('new') }));
  });

  it('is not recorded without one', async () => {
    const scene = new Scene();
    await scene.run();
    expect(recordOfScene(scene)).toBe(writeRecord({ [CM]: hashOf('new') }));
  });

  it('keeps its times when the record is only corrected', async () => {
    const reloads = { times: [1_795_000_000], level: 2 };
    const scene = new Scene((changed) => {
      changed.row = { templateRv: '25' };
      changed.record = writeRecord({ [CM]: hashOf('old') }, undefined, reloads);
    });
    expect(await scene.run()).toMatchObject({ state: 'recorded' });
    expect(recordedReloads(recordOfScene(scene))).toEqual(reloads);
  });
});

const NO_WAVES = { progress: () => expect.fail('nothing comes in waves') };
const NO_SLOTS = {
  isGranted: async () => expect.fail('no slots'),
  ask: async () => expect.fail('no slots'),
  keep: async () => expect.fail('no slots'),
  leave: async () => expect.fail('no slots'),
};

const job = (namespace: string, name: string): ReloadJob => ({
  v: 1,
  workload: `Deployment/${namespace}/${name}`,
  since: Date.now(),
});

/** `taken` returns which workloads are to be looked at when, in milliseconds from now. */
function holdsBy(apiTime: () => number) {
  const enqueued: [string, number][] = [];
  const enqueueHeld = async (some: readonly ReloadJob[], at: number) => {
    for (const { workload } of some) enqueued.push([workload, at - Date.now()]);
  };
  const waveSettings = { triggers: NO_TRIGGERS, adoptStale: 'report' } as const;
  const holds = new ReloadHolds(
    {
      namespaces: { annotations: async () => ({}) },
      queues: { enqueueHeld },
      waves: NO_WAVES,
      slots: NO_SLOTS,
      apiTime,
    },
    { defaults: {}, ownNamespace: 'reroll', waveSettings },
  );
  return { holds, taken: () => enqueued.splice(0) };
}

describe('a workload that is held', () => {
  const minutes = (count: number): number => count * 60_000;

  it.each([
    ['10 to 12 s after a change that has just come', { 'reroll.dev/freeze': '' }, 0, [10_000, 12_500]],
    [
      'half as late as the change is old',
      { 'reroll.dev/freeze': '' },
      minutes(4),
      [minutes(2), minutes(2.5)],
    ],
    ['after 5 to 6 minutes at most', { 'reroll.dev/freeze': '' }, minutes(600), [minutes(5), minutes(6.1)]],
    [
      'when the hold ends, if that is earlier',
      { 'reroll.dev/freeze': inAMoment() },
      minutes(600),
      [0, 61_000],
    ],
  ] as const)('is looked at again %s', async (_when, annotations, age, [earliest, latest]) => {
    const scene = new Scene(annotated(annotations));
    const now = Date.now();
    await scene.handle(now - age);
    const [at = 0, ...more] = scene.lookedAgainAt;
    expect([more, scene.reported]).toEqual([[], ['held']]);
    expect(at - now).toBeGreaterThanOrEqual(earliest);
    expect(at - now).toBeLessThanOrEqual(latest);
  });

  describe.each([
    ['ahead of', -minutes(5)],
    ['behind', minutes(5)],
    ['the same as', 0],
  ])('by a worker whose clock is %s that of the API server', (_clock, offset) => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
    afterEach(() => void vi.useRealTimers());

    it.each([
      ['when the hold ends', { until: 30_000, lookAt: 60_000 }, 30_000, 30_000],
      ['when it may end', { lookAt: 30_000 }, 30_000, 36_000],
      ['a second later if it has ended', { until: -1 }, 1_000, 1_000],
      ['a second later if it may have ended', { lookAt: -1 }, 1_000, 1_000],
    ])('is looked at again %s', async (_when, times, earliest, latest) => {
      const { holds, taken } = holdsBy(() => Date.now() + offset);
      const apiNow = Date.now() + offset;
      const ends = Object.fromEntries(Object.entries(times).map(([name, time]) => [name, apiNow + time]));
      await holds.lookAgain(job('a', 'x'), { reason: 'AwaitsWave', detail: '', ...ends });
      const [[, wait] = ['', Number.NaN]] = taken();
      expect(wait).toBeGreaterThanOrEqual(earliest);
      expect(wait).toBeLessThanOrEqual(latest);
    });
  });

  describe('when a Namespace changes', () => {
    const hold = { reason: 'Frozen', detail: '' } as const;

    async function holder(...jobs: readonly ReloadJob[]) {
      const made = holdsBy(Date.now);
      for (const each of jobs) await made.holds.lookAgain(each, hold);
      return made;
    }

    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
    afterEach(() => void vi.useRealTimers());

    it('is looked at now if it is there, and all are if it is the one of the installation', async () => {
      const { holds, taken } = await holder(job('a', 'x'), job('b', 'y'));
      taken();
      await holds.namespaceChanged('a');
      expect(taken()).toEqual([['Deployment/a/x', 0]]);
      await holds.lookAgain(job('a', 'x'), hold);
      taken();
      await holds.namespaceChanged('reroll');
      expect(taken().map(([workload]) => workload)).toEqual(['Deployment/b/y', 'Deployment/a/x']);
    });

    it('is looked at once in ten seconds, however often it changes', async () => {
      const { holds, taken } = await holder(job('a', 'x'));
      await holds.namespaceChanged('a');
      taken();
      for (let time = 1; time <= 5; time += 1) {
        vi.advanceTimersByTime(1_000);
        await holds.lookAgain(job('a', 'x'), hold);
        await holds.namespaceChanged('a');
        expect(taken().at(-1)).toEqual(['Deployment/a/x', 10_000 - time * 1_000]);
      }
    });

    it('is looked at soon if it changes while a worker decides', async () => {
      const { holds, taken } = await holder();
      await holds.namespaceChanged('a');
      vi.advanceTimersByTime(4_000);
      const old = { ...job('a', 'x'), since: Date.now() - 3_600_000 };
      await holds.lookAgain(old, hold);
      expect(taken()).toEqual([['Deployment/a/x', 6_000]]);
    });

    it('waits for its time if 10,000 others were held later in its namespace, not if they were in another one', async () => {
      const others = Array.from({ length: 10_000 }, (_, at) => job('b', `y${at}`));
      const { holds, taken } = await holder(job('a', 'x'), ...others);
      taken();
      await holds.namespaceChanged('a');
      expect(taken()).toEqual([['Deployment/a/x', 0]]);
      await holds.namespaceChanged('b');
      const again = taken().map(([workload]) => workload);
      expect([again.length, again[0]]).toEqual([9_999, 'Deployment/b/y1']);
    });
  });

  it('is not looked at again once it is reloaded', async () => {
    const scene = new Scene();
    await scene.handle(Date.now());
    expect([scene.lookedAgainAt, scene.reported]).toEqual([[], ['ended']]);
  });
});

describe('with a limit of rollouts at once', () => {
  const limited: Change = (scene) => void (scene.holds = { rollouts: 5 });
  const annotatedLimit = inNamespace({ 'reroll.dev/max-concurrent-rollouts': '2' });
  const granted: Change = (scene) => void (scene.isGranted = true);

  it.each([
    ['of the installation', limited, undefined],
    ['of the Namespace', annotatedLimit, 2],
    ['of both', all(limited, annotatedLimit), 2],
    [
      'of the installation, as that of the Namespace cannot be read',
      all(limited, inNamespace({ 'reroll.dev/max-concurrent-rollouts': 'few' })),
      undefined,
    ],
  ])('%s, a workload waits for its slot, read or not', async (_, limit, most) => {
    for (const how of [limit, all(limit, unread)]) {
      const scene = new Scene(how);
      await scene.handle(Date.now());
      expect([scene.reported, scene.api.writes]).toEqual([['held'], []]);
      expect([scene.lookedAgainAt.length, scene.slotCalls]).toEqual([1, [['ask', most]]]);
      const outcome = await scene.run();
      expect(outcome).toMatchObject({ state: 'unchanged', reason: 'AwaitsRollouts' });
    }
  });

  it.each([
    ['a slot', all(limited, granted)],
    ['a slot of its Namespace', all(annotatedLimit, granted)],
    ['a manual reload that passes the limit', all(limited, passing('AwaitsRollouts'))],
  ])('a workload with %s is reloaded, and the time recorded', async (_, change) => {
    const scene = new Scene(change);
    expect(await scene.run()).toMatchObject({ state: 'reloaded', rolled: [CM] });
    expect(recordedReloads(recordOfScene(scene)).times).toHaveLength(1);
  });

  it.each(['Job', 'CronJob'] as const)(
    'a %s is reloaded without a slot, and no time is recorded for it',
    async (kind) => {
      const scene = new Scene(all(limited, annotatedLimit, (of) => void (of.kind = kind)));
      expect(await scene.run()).toMatchObject({ state: 'reloaded', rolled: [CM] });
      expect(recordedReloads(recordOfScene(scene)).times).toEqual([]);
    },
  );

  const date = 1_800_000_000_000;
  const waiting: Change = (scene) => {
    scene.budget = [70_000];
    scene.api.date = date;
  };

  describe.each([
    ['of the installation', limited],
    ['of the Namespace', annotatedLimit],
  ])('%s', (_where, limit) => {
    it.each([
      ['read', () => undefined],
      ['not read', unread],
    ])('a workload that is %s keeps its slot while it waits for its turn by the rate', async (_how, how) => {
      const scene = new Scene(all(limit, granted, waiting, how));
      await expect(scene.run()).rejects.toMatchObject({ wait: 70_000 });
      expect(scene.slotCalls).toEqual([['keep', date + 71_000]]);
      const without = new Scene(all(limit, waiting, how));
      expect(await without.run()).toMatchObject({ reason: 'AwaitsRollouts' });
      expect(without.slot).toEqual(['ask']);
    });
  });

  it.each([
    ['for good', true, 'Forbidden', ['leave']],
    ['and is tried again', false, 'Forbidden', []],
    ['without an answer', true, 'ApiUnavailable', []],
  ] as const)(
    'a reload that fails %s leaves its slot only if it was not done',
    async (_, isLast, reason, calls) => {
      const scene = new Scene(limited);
      await scene.fail(reason, isLast);
      expect(scene.slotCalls).toEqual(calls);
    },
  );

  it('a dry run waits for no slot', async () => {
    const scene = new Scene(all(limited, (changed) => void (changed.settings = { dryRun: true })));
    expect(await scene.run()).toMatchObject({ state: 'wouldReload' });
  });

  it.each([
    ['is held otherwise', all(limited, annotated(frozen)), ['leave']],
    ['has nothing pending', all(limited, settled), ['leave']],
    ['is reloaded', all(limited, granted), []],
    ['is held without a limit', annotated(frozen), []],
    ['has nothing pending, without a limit', settled, []],
  ])('a workload that %s leaves its slot to others unless it needs it', async (_, change, calls) => {
    const scene = new Scene(change);
    await scene.handle(Date.now());
    expect(scene.slotCalls).toEqual(calls);
  });
});

describe('a source whose change comes in waves', () => {
  const first = { wave: Infinity, rollout: { state: 'complete', at: 0 } } as const;
  const earlier = (isReloaded: boolean, rollout: WaveMember['rollout'] = first.rollout): WaveMember => ({
    ...first,
    workload: 'Deployment/ns/a',
    isReloaded,
    rollout,
  });
  const own: WaveMember = { ...first, workload: 'Deployment/ns/w', isReloaded: false };
  const stuck = { state: 'stuck', code: 'ProgressDeadlineExceeded' } as const;

  /** The change has come so far, by a catalog that has this data. */
  const inWaves =
    (members: readonly WaveMember[] | undefined, more: Partial<SourceRow> = {}): Change =>
    (scene) => {
      scene.holds = { waves: '1,100%' };
      const source = {
        hash: hashOf('new'),
        exists: true,
        dataRv: '20',
        annotations: {},
        ...more,
      } as SourceRow;
      scene.waves = { progress: async () => ({ source, members }) };
    };

  it.each<[string, Change, object]>([
    [
      'does not wait if a manual reload passes waves',
      all(inWaves([earlier(false), own]), passing('AwaitsWave', 'WaveHalted')),
      { state: 'reloaded' },
    ],
    [
      'waits if a manual reload passes other holds only',
      all(inWaves([earlier(false), own]), passing('Frozen', 'OutsideWindow', 'TooOften')),
      { reason: 'AwaitsWave' },
    ],
    ['waits for an earlier wave', inWaves([earlier(false), own]), { reason: 'AwaitsWave' }],
    ['is reloaded after it', inWaves([earlier(true), own]), { state: 'reloaded' }],
    ['is held if a rollout failed', inWaves([earlier(true, stuck), own]), { reason: 'WaveHalted' }],
    [
      'goes on if somebody says so',
      inWaves([earlier(true, stuck), own], { annotations: { 'reroll.dev/resumed': '20; known' } }),
      { state: 'reloaded' },
    ],
    [
      'does not go on with data that came after that',
      inWaves([earlier(true, stuck), own], { annotations: { 'reroll.dev/resumed': '19' } }),
      { reason: 'WaveHalted' },
    ],
    [
      'waits while the catalog has other data than was read',
      inWaves([earlier(true), own], { hash: hashOf('old') }),
      { reason: 'AwaitsWave' },
    ],
    ['waits until a leader has told of rollouts', inWaves(undefined), { reason: 'AwaitsWave' }],
    [
      'is told of at once by a dry run',
      all(inWaves([earlier(false), own]), (scene) => void (scene.settings = { dryRun: true })),
      { state: 'wouldReload' },
    ],
    [
      'waits by the waves of its Namespace',
      all(inWaves([earlier(false), own]), inNamespace({ 'reroll.dev/waves': '1' }), (scene) => {
        scene.holds = {};
      }),
      { reason: 'AwaitsWave' },
    ],
  ])('a workload %s', async (_what, change, expected) => {
    for (const how of [change, all(change, unread)]) {
      const scene = new Scene(how);
      expect(await scene.run()).toMatchObject(expected);
      expect(scene.api.writes).toHaveLength('state' in expected && expected.state === 'reloaded' ? 1 : 0);
    }
  });
});

describe('a workload that waits for its turn by the rate', () => {
  const required = { 'reroll.dev/approval': 'required' };
  const frozenBut: Change = all(annotated(frozen), passing('Frozen'));

  it.each<[string, () => Promise<Change>]>([
    ['whose change is approved', async () => annotated({ ...required, 'reroll.dev/approved': await idOf() })],
    ['whose manual reload passes a freeze', async () => frozenBut],
    ['whose manual reload changes no data', async () => all(asked, settled)],
    [
      'that has a slot of the rollouts at once',
      async () => (scene) => {
        scene.holds = { rollouts: 5 };
        scene.isGranted = true;
      },
    ],
  ])('is not read: one %s', async (_, change) => {
    const reads: string[] = [];
    const scene = new Scene(
      all(await change(), (changed) => {
        changed.budget = [5_000];
        changed.api.before = (_method, path) => void (path.endsWith('/w') && reads.push(path));
      }),
    );
    await expect(scene.run()).rejects.toMatchObject({ wait: 5_000 });
    expect([scene.slot, reads]).toEqual([['ask', 'claim'], []]);
  });

  async function idOf(): Promise<string> {
    const detail = (await new Scene(annotated(required)).run()).hold?.detail ?? '';
    return /has the id ([0-9a-f]{10})\./.exec(detail)?.[1] ?? '';
  }
});

function inAMoment(): string {
  return new Date(Date.now() + 60_000).toISOString();
}

test.each([
  ['without', undefined, []],
  ['with', [], ['ask']],
])(
  'nothing is patched while the Namespace cannot be read, %s a limit per minute',
  async (_, budget, slot) => {
    const scene = new Scene((changed) => {
      changed.budget = budget;
      changed.api.before = (_method, path) => {
        if (path.startsWith('/api/v1/namespaces/') && path.endsWith('/ns')) throw refusal(403);
      };
    });
    await expect(scene.run()).rejects.toMatchObject({ reason: 'Forbidden', pending: [CM] });
    expect([scene.api.writes, scene.slot]).toEqual([[], slot]);
  },
);
