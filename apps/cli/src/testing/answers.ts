import type { Change, ChangeSummary } from '@reroll/shared/api/changes';
import type { Status } from '@reroll/shared/api/status';
import type { Workload, WorkloadSummary } from '@reroll/shared/api/workloads';

export const WEB = { kind: 'Deployment', namespace: 'shop', name: 'web' } as const;
export const DB = { kind: 'Secret', namespace: 'shop', name: 'db' } as const;

export function changeSummary(changed: Partial<ChangeSummary> = {}): ChangeSummary {
  return {
    id: '1763737200123-0',
    source: DB,
    cause: 'updated',
    seenAt: '2026-11-21T14:56:40.000Z',
    takenUpAt: '2026-11-21T14:56:41.000Z',
    from: '2.aaaaaaaaaaaaaaaaaaaa',
    to: '2.bbbbbbbbbbbbbbbbbbbb',
    request: null,
    states: { rolledOut: 2, failed: 1 },
    halted: 0,
    ...changed,
  };
}

export function change(changed: Partial<Change> = {}): Change {
  const { states: _states, halted: _halted, ...summary } = changeSummary();
  return { ...summary, overtaken: false, workloads: [changeWorkload('rolledOut')], ...changed };
}

export function changeWorkload(
  state: Change['workloads'][number]['state'],
  changed: Partial<Change['workloads'][number]> = {},
): Change['workloads'][number] {
  return {
    workload: WEB,
    verdict: 'reload',
    reason: 'AutoReload',
    detail: 'it uses the source',
    state,
    outcome: null,
    until: null,
    attempts: { made: 1, most: 5 },
    error: null,
    decidedAt: '2026-11-21T14:56:42.000Z',
    endedAt: null,
    rollout: null,
    ...changed,
  };
}

export function workloadSummary(changed: Partial<WorkloadSummary> = {}): WorkloadSummary {
  return {
    ...WEB,
    sources: 2,
    due: null,
    stale: false,
    lastAttempt: null,
    leftAlone: null,
    contested: false,
    pausedUntil: null,
    hold: null,
    rollout: 'complete',
    lastReload: {
      at: '2026-11-21T14:00:00.000Z',
      reason: 'AutoReload',
      change: '1763737200123-0',
      rolled: ['Secret/db'],
    },
    ...changed,
  };
}

export function workload(changed: Partial<Workload> = {}): Workload {
  return {
    ...workloadSummary(),
    generation: 3,
    annotations: { 'reloader.stakater.com/auto': 'true' },
    podAnnotations: {},
    sourcesInDetail: [
      {
        source: DB,
        how: 'used',
        stale: false,
        rolls: true,
        reason: 'AutoReload',
        detail: 'it uses the source',
        recorded: '2.bbb',
        current: '2.bbb',
        exists: true,
        due: null,
      },
    ],
    job: null,
    rolloutInDetail: {
      state: 'complete',
      code: 'Complete',
      updated: 2,
      ready: 2,
      desired: 2,
      conditions: [],
    },
    history: [
      {
        change: '1763737200123-0',
        source: DB,
        cause: 'updated',
        workload: WEB,
        state: 'rolledOut',
        reason: 'AutoReload',
        at: '2026-11-21T14:00:00.000Z',
        rolled: ['Secret/db'],
        error: null,
      },
    ],
    ...changed,
  };
}

export function status(changed: Partial<Status> = {}): Status {
  return {
    version: '7.8.9',
    cluster: 'c0ffee',
    leader: 'watcher-1',
    processes: [
      {
        app: 'watcher',
        name: 'watcher-1',
        version: '7.8.9',
        startedAt: '2026-11-21T12:00:00.000Z',
        seenAt: '2026-11-21T14:59:55.000Z',
        role: 'leader',
        synced: true,
        concurrency: null,
      },
    ],
    lagSeconds: 0,
    owed: { workloads: 0, oldest: null },
    redis: { ok: true, milliseconds: 1 },
    apiServer: { ok: true, milliseconds: 3 },
    history: { changes: 12, oldest: '2026-11-20T15:00:00.000Z' },
    limits: { concurrency: null, reloadsPerMinute: 60 },
    frozen: null,
    warnings: [],
    caller: { name: 'alice', clusterWide: true, mayReload: true, mayHold: false, maySteer: false },
    ...changed,
  };
}
