import { describe, expect, it } from 'vitest';
import type { Workload } from '@reroll/shared/api/workloads';
import { sourceStates } from './source-states.ts';

const edge = {
  how: 'used',
  rolls: true,
  stale: false,
  reason: 'AutoReload',
  detail: '',
  exists: true,
} as const;
const source = (name: string, recorded: string, due: 'owed' | null = null) => ({
  ...edge,
  source: { kind: 'Secret', namespace: 'shop', name } as const,
  recorded,
  current: 'now',
  due,
});

function workload(more: Partial<Workload>): Workload {
  const sourcesInDetail = [source('db', 'old', 'owed'), source('keys', 'now')];
  const nothing = {
    hold: null,
    contested: false,
    lastAttempt: null,
    job: null,
    history: [],
    rollout: 'complete',
  } as const;
  return { ...nothing, sourcesInDetail, ...more } as unknown as Workload;
}

const outcome = (state: string) => [{ state, rolled: [] as string[] }] as unknown as Workload['history'];

describe('the sources of a workload', () => {
  it('are pending, held or failed, and the others stay current', () => {
    const hold = { reason: 'AwaitsApproval', detail: '', id: null } as const;
    const attempt = (state: 'failed' | 'retrying') => ({ lastAttempt: { state } }) as Partial<Workload>;
    expect(sourceStates(workload({}))).toEqual(['pending', 'current']);
    expect(sourceStates(workload({ hold }))).toEqual(['held', 'current']);
    expect(sourceStates(workload(attempt('retrying')))).toEqual(['retrying', 'current']);
    expect(sourceStates(workload(attempt('failed')))).toEqual(['failed', 'current']);
    expect(sourceStates(workload({ contested: true }))).toEqual(['conflict', 'current']);
    // A new job: how the last one ended is over.
    expect(sourceStates(workload({ history: outcome('failed') }))).toEqual(['pending', 'current']);
  });

  it('that the pods are being replaced for are rolling out or stuck, and no other', () => {
    const sourcesInDetail = [source('db', 'now'), source('keys', 'now')];
    // What came after the reload left the pods alone.
    const history = outcome('skipped');
    const lastReload = { rolled: ['Secret/db'] } as Workload['lastReload'];
    expect(sourceStates(workload({ sourcesInDetail, history, lastReload, rollout: 'progressing' }))).toEqual([
      'rollingOut',
      'current',
    ]);
    expect(sourceStates(workload({ sourcesInDetail, history, lastReload, rollout: 'stuck' }))).toEqual([
      'stuck',
      'current',
    ]);
    expect(sourceStates(workload({ sourcesInDetail, rollout: 'stuck' }))).toEqual(['current', 'current']);
  });
});
