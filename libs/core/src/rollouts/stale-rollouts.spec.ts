import { beforeEach, describe, expect, it } from 'vitest';
import type { RolloutEntry } from '../history/entries.ts';
import type { SourceKey, WorkloadKey } from '../model.ts';
import type { SourceRow, WorkloadRow } from '../state/rows.ts';
import { sourceRow, workloadRow } from '../testing/rows.ts';
import { StaleRollouts } from './stale-rollouts.ts';

const WEB: WorkloadKey = 'Deployment/ns/web';
const OWNER: WorkloadKey = 'Deployment/ns/owner';
const CM: SourceKey = 'ConfigMap/ns/cm';

let sources: Map<SourceKey, SourceRow>;
let workloads: Map<WorkloadKey, WorkloadRow>;
let tracked: Map<WorkloadKey, RolloutEntry>;
let stale: StaleRollouts;

beforeEach(() => {
  sources = new Map([[CM, sourceRow(10, 'A')]]);
  workloads = new Map();
  tracked = new Map();
  stale = new StaleRollouts({ sources, workloads }, tracked);
});

function row(templateRv: string, more: Partial<WorkloadRow> = {}): WorkloadRow {
  return workloadRow({ templateRv, rv: templateRv, generation: 2, ...more });
}

/** A sighting at which the rollout is under way, or (null) complete. Returns whether it is stale then. */
function sees(now: WorkloadRow, rollout: Partial<RolloutEntry> | null = {}, key = WEB): boolean {
  const before = workloads.get(key);
  workloads.set(key, now);
  const counts = { updated: 1, ready: 1, desired: 3, generation: 2, since: 0, at: 0, conditions: [] };
  if (rollout)
    tracked.set(key, { workload: key, state: 'progressing', code: 'Updating', ...counts, ...rollout });
  else tracked.delete(key);
  stale.seen(key, before, 1_000);
  return stale.isStale(key);
}

describe('a rollout under way is stale', () => {
  it('if its source was written after the pod template that it replaces, until it is complete', () => {
    expect(sees(row('5'), null)).toBe(false);
    expect(sees(row('11'))).toBe(true);
    expect(stale.underWay.get(WEB)?.since).toBe(1_000);
    expect(sees(row('11'), { code: 'OldPodsPending' })).toBe(true);
    expect(sees(row('11'), null)).toBe(false);
    expect(stale.underWay.size).toBe(0);
  });

  it('not if it brings no newer data', () => {
    sees(row('15'), null);
    expect(sees(row('20'))).toBe(false);
  });

  it('not if the source is not a dependency, or was deleted', () => {
    sees(row('5'), null);
    expect(sees(row('11', { dependencies: ['ConfigMap/other'] }))).toBe(false);
    sources.set(CM, sourceRow(10, 'A', { exists: false }));
    expect(sees(row('11'))).toBe(false);
  });

  it('still if another rollout begins before it is complete', () => {
    sees(row('5'), null);
    sees(row('11'));
    expect(sees(row('20'))).toBe(true);
  });

  it('not once every pod is of the present template, even if some are not available', () => {
    sees(row('5'), null);
    expect(sees(row('11'), { code: 'Unavailable', updated: 3 })).toBe(false);
    expect(sees(row('11'), { code: 'Unavailable', updated: 2 })).toBe(true);
  });

  it('by data that is written while it is under way', () => {
    sees(row('15'), null);
    expect(sees(row('20'))).toBe(false);
    sources.set(CM, sourceRow(21, 'B'));
    expect(stale.isStale(WEB)).toBe(true);
  });
});

describe('a rollout whose beginning was not seen', () => {
  it('is stale, because its pods may have anything', () => {
    expect(sees(row('11'))).toBe(true);
  });

  it('is not if the workload is as it was created', () => {
    expect(sees(row('11', { generation: 1 }))).toBe(false);
  });

  it('is if the pod template is another workload’s, whose generation is not known', () => {
    const templateOwner = { key: OWNER, uid: 'owner', generation: 3, rv: '11', isMarked: false };
    expect(sees(row('11', { generation: 1, templateOwner }))).toBe(true);
  });

  it('is not if it is a Job, because its pod template never changes', () => {
    expect(sees(row('11'), {}, 'Job/ns/migrate')).toBe(false);
  });
});

it('a workload that was deleted and created again has no earlier pods', () => {
  sees(row('5'), null);
  expect(sees(row('11', { uid: 'new' }))).toBe(false);
});

it('a workload that is gone is forgotten, and so is one that the tracker dropped', () => {
  sees(row('5'), null);
  sees(row('11'));
  stale.gone(WEB);
  expect(stale.isStale(WEB)).toBe(false);
  sees(row('11'));
  tracked.delete(WEB);
  stale.prune();
  expect(stale.underWay.size).toBe(0);
});
