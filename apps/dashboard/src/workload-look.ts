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

const WITHOUT_SOURCE: Look = {
  ...DEPENDENCY_LOOKS.none,
  meaning: 'No change of a source reloads it, so its pods may have older data',
};

/** The one state of a workload: its worst, so that no problem stands beside a word that says that all is well. */
export function workloadLook(
  of: Pick<
    WorkloadSummary,
    'due' | 'stale' | 'contested' | 'hold' | 'lastAttempt' | 'rollout' | 'leftAlone' | 'sources'
  >,
): Look {
  if (of.rollout === 'stuck') return ROLLOUTS.stuck;
  if (of.due === 'owed') return DEPENDENCY_LOOKS[pendingState(of)];
  // A hold that was told of a reload that is not pending any more.
  if (of.lastAttempt !== null) return DEPENDENCY_LOOKS[pendingState({ ...of, hold: null })];
  if (of.rollout === 'progressing') return ROLLOUTS.progressing;
  if (of.stale) return DEPENDENCY_LOOKS.stale;
  if (of.due === 'correct') return DUE.correct;
  if (of.leftAlone !== null) return LEFT_ALONE;
  return of.sources === 0 ? WITHOUT_SOURCE : UP_TO_DATE;
}
