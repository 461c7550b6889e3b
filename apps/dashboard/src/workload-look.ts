import type { WorkloadSummary } from '@reroll/shared/api/workloads';
import { DUE, ROLLOUTS, type Look } from './words.ts';

const UP_TO_DATE: Look = {
  word: 'Up to date',
  meaning: 'Its pods run with the current data',
  sign: 'check',
  tone: 'good',
};

/** The one state of a workload: its worst, so that no problem stands beside a word that says that all is well. */
export function workloadLook(of: Pick<WorkloadSummary, 'due' | 'rollout'>): Look {
  if (of.rollout === 'stuck') return ROLLOUTS.stuck;
  if (of.due === 'owed') return DUE.owed;
  if (of.rollout === 'progressing') return ROLLOUTS.progressing;
  return of.due === 'correct' ? DUE.correct : UP_TO_DATE;
}
