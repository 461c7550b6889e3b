import { expect, it } from 'vitest';
import type { ChangeWorkload } from '@reroll/shared/api/changes';
import { groupsOf } from './change-groups.ts';

function workload(name: string, more: Partial<ChangeWorkload>): ChangeWorkload {
  return {
    workload: { kind: 'Deployment', namespace: 'shop', name },
    verdict: 'reload',
    reason: 'AutoReload',
    detail: 'auto',
    state: 'rolledOut',
    outcome: null,
    until: null,
    attempts: null,
    error: null,
    decidedAt: null,
    endedAt: null,
    rollout: null,
    ...more,
  };
}

it('a reason is told once for all workloads that have it, and those that reload come first', () => {
  const groups = groupsOf([
    workload('legacy', { verdict: 'skip', reason: 'NotAnnotated', state: 'skipped', detail: 'none' }),
    workload('web', {}),
    workload('api', { state: 'held', detail: 'frozen: year-end' }),
  ]);
  expect(groups.map(({ reason, detail, workloads }) => `${reason} ${detail} ${workloads.length}`)).toEqual([
    'AutoReload auto 2',
    'NotAnnotated none 1',
  ]);
});

it('workloads of which the rules said different things are not told of in one sentence', () => {
  const groups = groupsOf([
    workload('web', { detail: 'matches db' }),
    workload('api', { detail: 'matches d.*' }),
    workload('cron', { detail: 'matches db' }),
  ]);
  expect(groups.map(({ detail, workloads }) => `${detail} ${workloads.length}`)).toEqual([
    'matches db 2',
    'matches d.* 1',
  ]);
});

it('what went wrong comes first in a group, and what is done last', () => {
  const [group] = groupsOf([
    workload('done', {}),
    workload('waits', { state: 'pending' }),
    workload('failed', { state: 'failed' }),
    workload('stuck', { state: 'stuck' }),
  ]);
  expect(group?.workloads.map((each) => each.workload.name)).toEqual(['failed', 'stuck', 'waits', 'done']);
});
