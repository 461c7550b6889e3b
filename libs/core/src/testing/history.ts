import type { ChangeEntry, OutcomeEntry, RolloutEntry } from '../history/entries.ts';

/** Builders of history entries for specs. Times are Unix milliseconds. */
export const WEB = 'Deployment/shop/web';
export const CONFIG = 'ConfigMap/shop/cm';

/** Seen at `since`; taken up two milliseconds later. */
export function changed(since: number, more: Partial<ChangeEntry> = {}): ChangeEntry {
  return {
    source: CONFIG,
    cause: 'updated',
    since,
    at: since + 2,
    from: '1.a',
    hash: '1.b',
    woken: [{ workload: WEB, reason: 'AutoReload', detail: 'auto is true' }],
    leftAlone: [],
    ...more,
  };
}

/** Of a job first enqueued at `since`: reloaded for the ConfigMap, as generation 2. */
export function reloaded(since: number, more: Partial<OutcomeEntry> = {}): OutcomeEntry {
  return {
    workload: WEB,
    state: 'reloaded',
    reason: 'Reloaded',
    sources: { 'ConfigMap/cm': 'Roll' },
    rolled: ['ConfigMap/cm'],
    since,
    at: since + 5,
    attempt: 1,
    attempts: 5,
    generation: 2,
    ...more,
  };
}

export function inStep(since: number, more: Partial<OutcomeEntry> = {}): OutcomeEntry {
  return reloaded(since, {
    state: 'unchanged',
    reason: 'InStep',
    sources: { 'ConfigMap/cm': 'InStep' },
    rolled: [],
    generation: undefined,
    ...more,
  });
}

export function retrying(since: number, more: Partial<OutcomeEntry> = {}): OutcomeEntry {
  return inStep(since, {
    state: 'retrying',
    reason: 'ApiUnavailable',
    sources: {},
    error: 'KUBE_NETWORK',
    ...more,
  });
}

export function rollout(generation: number, more: Partial<RolloutEntry> = {}): RolloutEntry {
  return {
    workload: WEB,
    generation,
    state: 'complete',
    code: 'Complete',
    updated: 1,
    ready: 1,
    desired: 1,
    since: 0,
    at: 0,
    conditions: [],
    ...more,
  };
}
