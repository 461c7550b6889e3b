import type { Workload, WorkloadSummary } from '@reroll/shared/api/workloads';
import type { Ref } from './names.ts';
import { CONFLICT, DUE, ROLLOUTS, STATES, type Look, type ReloadState } from './words.ts';

/** How a workload stands to the current data of a source. */
export type DependencyState =
  | 'stuck'
  | 'failed'
  | 'conflict'
  | 'retrying'
  | 'held'
  | 'pending'
  | 'rollingOut'
  | 'stale'
  | 'outdated'
  | 'unknown'
  | 'current'
  | 'none';

/** The worst first, which is the order of lists. */
export const DEPENDENCY_LOOKS: Readonly<Record<DependencyState, Look>> = {
  stuck: ROLLOUTS.stuck,
  failed: STATES.failed,
  conflict: CONFLICT,
  retrying: STATES.retrying,
  held: STATES.held,
  pending: DUE.owed,
  rollingOut: ROLLOUTS.progressing,
  stale: {
    word: 'Stale',
    meaning: 'Its pods may have been started with older data, and no reload is pending',
    sign: 'alert',
    tone: 'quiet',
  },
  outdated: DUE.correct,
  unknown: {
    word: 'Not recorded',
    meaning: 'The applied record does not tell with which data its pods were started',
    sign: 'ring',
    tone: 'quiet',
  },
  current: {
    word: 'Current',
    meaning: 'Its pods were started with the current data',
    sign: 'check',
    tone: 'good',
  },
  none: {
    word: 'Not reloaded',
    meaning: 'A change of the data does not reload it',
    sign: 'dash',
    tone: 'quiet',
  },
};
export const DEPENDENCY_STATES = Object.keys(DEPENDENCY_LOOKS) as readonly DependencyState[];

/** What the API tells of a source and a workload. */
export type Dependency = Pick<
  Workload['sourcesInDetail'][number],
  'rolls' | 'due' | 'stale' | 'recorded' | 'current' | 'exists'
>;

/** What is known besides: the rollout of the workload, and what became of the latest reload. */
export interface Progress {
  readonly rollout: Workload['rollout'];
  readonly latest: ReloadState | 'conflict' | undefined;
}

/** The rollout of a workload if its last reload was for this source; the pods may be replaced for another one, or by their owner. */
export function rolloutFor(
  { kind, name }: Pick<Ref, 'kind' | 'name'>,
  { rollout, lastReload }: Pick<WorkloadSummary, 'rollout' | 'lastReload'>,
): WorkloadSummary['rollout'] {
  return lastReload?.rolled.includes(`${kind}/${name}`) === true ? rollout : 'complete';
}

/** Why a reload that is pending is not done yet. */
export function pendingState(
  of: Pick<WorkloadSummary, 'contested' | 'hold' | 'lastAttempt'>,
): 'conflict' | 'held' | 'failed' | 'retrying' | 'pending' {
  if (of.contested) return 'conflict';
  return of.hold ? 'held' : (of.lastAttempt?.state ?? 'pending');
}

/** The one state of the two: the worst. */
export function dependencyState(of: Dependency, { rollout, latest }: Progress): DependencyState {
  if (of.rolls && rollout === 'stuck') return 'stuck';
  if (of.due === 'owed') return latest && PENDING.has(latest) ? (latest as DependencyState) : 'pending';
  if (of.rolls && rollout === 'progressing') return 'rollingOut';
  if (of.stale) return 'stale';
  if (of.due === 'correct') return 'outdated';
  return restingState(of);
}

/** What keeps a pending reload from being done. */
const PENDING: ReadonlySet<string> = new Set(['conflict', 'failed', 'retrying', 'held']);

/** Nothing is pending, and no pod is being replaced. */
function restingState({ rolls, recorded, current, exists }: Dependency): DependencyState {
  if (exists && recorded !== null && recorded !== current) return 'stale';
  if (!rolls) return 'none';
  return exists && recorded === null ? 'unknown' : 'current';
}
