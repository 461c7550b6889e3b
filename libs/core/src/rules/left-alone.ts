import { excessText } from '../annotations/annotation-limits.ts';
import { REASONS } from '../reasons.ts';
import type { Facts } from './facts.ts';
import { pass, skip, type RuleAnswer } from './rule.ts';

/** Skips a workload that is not reloaded in its present state (a finished Job, for instance) or that exceeds a limit. */
export function leftAlone({ workload, settings }: Facts): RuleAnswer {
  const { leftAlone: reason, excess } = workload;
  if (excess) return skip('InvalidAnnotation', () => excessText(excess));
  if (reason === undefined) return pass(() => 'nothing about the workload itself keeps it from reloading');
  if (reason === 'JobFinished' && settings.recreateFinishedJobs)
    return pass(() => 'the Job is finished, and --recreate-finished-jobs is on');
  return skip(reason, () => REASONS[reason]);
}
