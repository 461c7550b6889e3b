import { waveHold } from '@reroll/core/holds/waves';
import { describe, expect, it } from 'vitest';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import type { Job } from '@reroll/shared/api/queues';
import type { Workload, WorkloadSummary } from '@reroll/shared/api/workloads';
import { whyStuck } from './attention-items.ts';
import { installState, keysToLookAt, type InstallFacts } from './install-state.ts';

type Rollout = Workload['rolloutInDetail'];
const AT = '2026-11-21T15:00:00.000Z';
const NOTHING: InstallFacts = {
  warnings: [],
  stuck: [],
  moving: [],
  pending: [],
  failed: [],
  failedJobs: [],
  halted: [],
  stale: { items: [], next: null },
  details: new Map(),
};

function workload(name: string, more: Partial<WorkloadSummary> = {}): WorkloadSummary {
  return {
    kind: 'Deployment',
    namespace: 'shop',
    name,
    sources: 1,
    due: null,
    stale: false,
    lastAttempt: null,
    leftAlone: null,
    contested: false,
    pausedUntil: null,
    hold: null,
    rollout: 'complete',
    lastReload: null,
    ...more,
  };
}

function details(name: string, more: Partial<Workload>): [string, Workload] {
  const rolloutInDetail: Rollout = { state: 'complete', code: 'Complete', conditions: [] };
  const rest = { generation: 1, annotations: {}, podAnnotations: {}, sourcesInDetail: [], job: null };
  return [`Deployment/shop/${name}`, { ...workload(name), ...rest, history: [], rolloutInDetail, ...more }];
}

function outcome(state: 'held'): Workload['history'] {
  const of = { source: null, cause: null, workload: workload('web'), rolled: [] };
  return [{ ...of, change: '7-0', state, reason: 'Failed', at: AT, error: null }];
}

function failedJob(id: string, subject: string | null): Job {
  const times = { since: AT, createdAt: AT, startedAt: AT, endedAt: AT, until: null };
  const queue = id.startsWith('reloads') ? 'reloads' : 'notifications';
  return { id, queue, state: 'failed', subject, ...times, attempts: { made: 3, most: 3 }, error: 'no' };
}

const told = (facts: Partial<InstallFacts>): string[] =>
  installState({ ...NOTHING, ...facts }).attention.map(({ problem, key }) => `${problem} ${key}`);

describe('what needs attention', () => {
  it('is nothing if nothing is open', () => {
    expect(installState(NOTHING)).toEqual({
      attention: [],
      rollingOut: 0,
      pending: 0,
      stale: 0,
      isStaleCut: false,
    });
  });

  it('begins with warnings and what is stuck, and has each workload once', () => {
    const hold = { reason: 'AwaitsApproval', detail: 'approve 1a2b', id: '1a2b' } as const;
    const facts = {
      warnings: ['No worker runs: nothing is reloaded.'],
      stuck: [workload('web')],
      pending: [workload('web', { due: 'owed' }), workload('api', { due: 'owed', hold })],
      failedJobs: [failedJob('reloads:1', 'Deployment/shop/web')],
    };
    expect(told(facts)).toEqual([
      'warning No worker runs: nothing is reloaded.',
      'stuck Deployment/shop/web',
      'held Deployment/shop/api',
    ]);
    const held = installState({ ...NOTHING, ...facts }).attention.at(-1);
    expect(held).toMatchObject({ since: null, why: 'approve 1a2b', approval: '1a2b' });
    const looked = { ...NOTHING, ...facts, details: new Map([details('api', { history: outcome('held') })]) };
    expect(installState(looked).attention.at(-1)).toMatchObject({ problem: 'held', since: AT });
  });

  it('is a reload that failed for good, not one that is tried again', () => {
    const ended = (state: 'failed' | 'retrying') =>
      workload('web', {
        due: 'owed',
        lastAttempt: { state, reason: 'Invalid', at: AT, error: 'denied' },
      });
    const failed = [ended('failed')];
    expect(installState({ ...NOTHING, failed }).attention).toMatchObject([
      { problem: 'failed', key: 'Deployment/shop/web', since: AT, why: 'denied' },
    ]);
    // It was tried again after the list was made.
    expect(told({ failed: [ended('retrying')] })).toEqual([]);
  });

  it('is a workload of which the last attempt failed, once, with its job while that is kept', () => {
    const lastAttempt = { state: 'failed', reason: 'Invalid', at: AT, error: 'denied' } as const;
    const failed = [workload('web', { lastAttempt }), workload('api', { lastAttempt })];
    const failedJobs = [failedJob('reloads:1', 'Deployment/shop/web'), failedJob('notifications:4', null)];
    const { attention } = installState({ ...NOTHING, failed, failedJobs });
    expect(attention.map(({ key, job }) => [key, job])).toEqual([
      ['Deployment/shop/web', 'reloads:1'],
      ['notifications:4', 'notifications:4'],
      ['Deployment/shop/api', undefined],
    ]);
    const contested = [workload('web', { due: 'owed', lastAttempt, contested: true })];
    expect(told({ pending: contested, failed: contested })).toEqual(['conflict Deployment/shop/web']);
  });

  it('is a change that is halted, once, and not the workloads that wait for their wave', () => {
    const halted = [
      {
        id: '9-0',
        source: { kind: 'Secret', namespace: 'shop', name: 'db' },
        seenAt: AT,
        halted: 2,
      } as ChangeSummary,
    ];
    const hold = { reason: 'WaveHalted', detail: '', id: null } as const;
    const pending = [workload('web', { due: 'owed', hold })];
    const state = installState({ ...NOTHING, halted, pending });
    expect(state).toMatchObject({ attention: [{ problem: 'halted', change: '9-0' }], pending: 1 });
    expect(state.attention[0]?.why).toContain('2 workloads wait for it');
    // The history may have dropped the change.
    expect(told({ pending })).toEqual(['held Deployment/shop/web']);
  });

  it.each([
    ['waits for its wave', { waves: '1,2' }, []],
    ['has waves that cannot be read', { waves: 'half' }, ['held Deployment/shop/web']],
    ['has a bake time that cannot be read', { waves: '1,2', bake: '2d' }, ['held Deployment/shop/web']],
  ])('is a workload with a hold that somebody must end, but not its turn: it %s', (_hold, set, expected) => {
    const rollout = { state: 'underWay', since: 0 } as const;
    const members = (['api', 'web'] as const).map((name) => ({
      workload: `Deployment/shop/${name}` as const,
      wave: 0,
      isReloaded: name === 'api',
      rollout,
    }));
    const change = { source: 'Secret/db', isResumed: false, members, now: 1, bake: undefined };
    const hold = waveHold({ ...change, ...set, workload: 'Deployment/shop/web' });
    expect(hold?.reason).toBe('AwaitsWave');
    const held = { reason: 'AwaitsWave' as const, detail: hold?.detail ?? '', id: null };
    const pending = [workload('web', { due: 'owed', hold: held })];
    expect(told({ pending })).toEqual(expected);
  });

  it('is a conflict with another controller', () => {
    expect(told({ pending: [workload('web', { due: 'owed', contested: true })] })).toEqual([
      'conflict Deployment/shop/web',
    ]);
  });
});

it('what is in progress is counted once: rolling out, or else pending', () => {
  const web = workload('web', { due: 'owed', rollout: 'progressing' });
  const facts = { moving: [web, workload('api')], pending: [web, workload('cron', { due: 'owed' })] };
  expect(installState({ ...NOTHING, ...facts })).toMatchObject({ rollingOut: 2, pending: 1 });
});

it('what is stale since adoption is counted if it is nothing else', () => {
  const items = ['web', 'api', 'cron', 'db'].map((name) => workload(name, { stale: true }));
  const facts = {
    moving: [workload('web')],
    pending: [workload('api', { due: 'owed' })],
    stuck: [workload('cron')],
    stale: { items, next: 'more' },
  };
  const counts = { rollingOut: 1, pending: 1, stale: 1, isStaleCut: true };
  expect(installState({ ...NOTHING, ...facts })).toMatchObject(counts);
});

it('the pods tell best why a rollout is stuck, then the conditions, then the code', () => {
  const rollout: Rollout = { state: 'stuck', code: 'ProgressDeadlineExceeded', conditions: [] };
  const pods = [{ name: 'web-1', container: 'app', reason: 'ImagePullBackOff', message: 'no such image' }];
  const condition = { type: 'Progressing', status: 'False', reason: 'x', message: 'deadline exceeded' };
  expect(whyStuck({ ...rollout, pods, conditions: [condition] })).toBe(
    'Pod web-1: ImagePullBackOff, no such image',
  );
  expect(whyStuck({ ...rollout, conditions: [condition] })).toBe('deadline exceeded');
  expect(whyStuck(rollout)).toBe('New pods do not become ready (ProgressDeadlineExceeded)');
});

it('looks at the stuck first, then at those of which the list does not tell since when they wait, and at no more than it may', () => {
  const hold = { reason: 'Frozen', detail: '', id: null } as const;
  const pending = ['stuck', 'one', 'two'].map((name) => workload(name, { hold }));
  const contested = workload('zero', { contested: true });
  const facts = { stuck: [workload('stuck')], pending: [workload('pending'), contested, ...pending] };
  expect(keysToLookAt(facts, 3)).toEqual(['stuck', 'zero', 'one'].map((name) => `Deployment/shop/${name}`));
});
