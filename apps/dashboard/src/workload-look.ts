import type { WorkloadSummary } from '@reroll/shared/api/workloads';
import { DEPENDENCY_LOOKS, pendingState } from './dependency-state.ts';
import { DUE, ROLLOUTS, type Look } from './words.ts';

const UP_TO_DATE: Look = {
  word: 'Up to date',
  meaning: 'Its pods run with the current data',
  sign: 'check',
  tone: 'good',
};

const LEFT_ALONE: Look = {
  word: 'Not reloaded',
  meaning: 'Reroll leaves it alone; the notes say why',
  sign: 'dash',
  tone: 'quiet',
};

/** The one state of a workload: its worst, so that no problem stands beside a word that says that all is well. */
export function workloadLook(
  of: Pick<WorkloadSummary, 'due' | 'stale' | 'contested' | 'hold' | 'lastAttempt' | 'rollout' | 'leftAlone'>,
): Look {
  if (of.rollout === 'stuck') return ROLLOUTS.stuck;
  if (of.due === 'owed' || of.lastAttempt !== null) return DEPENDENCY_LOOKS[pendingState(of)];
  if (of.rollout === 'progressing') return ROLLOUTS.progressing;
  if (of.stale) return DEPENDENCY_LOOKS.stale;
  if (of.due === 'correct') return DUE.correct;
  return of.leftAlone === null ? UP_TO_DATE : LEFT_ALONE;
}
