import type { Outcome } from '@reroll/core/history/join';
import { outcomeState, type LiveJob, type ReloadState } from '@reroll/core/history/states';
import type { PendingCause } from '@reroll/core/state/outbox';
import type { Workload } from '@reroll/shared/api/workloads';
import { timeOf } from '../time-of.ts';
import { isOfNew } from './stale.ts';

/** Whether a job is about to do what is pending. One that only looks again at a held reload is not. */
export function isNewJob(job: LiveJob | undefined): job is LiveJob {
  return job !== undefined && job.isHeld !== true;
}

/** The states of outcomes that leave undone what somebody requested. */
const UNDONE: readonly ReloadState[] = ['failed', 'retrying', 'skipped', 'recorded'];

/** Those that tell why a pending reload waits. Once nothing is pending, they leave undone what was requested before, too. */
const WAITING: readonly ReloadState[] = ['held', 'delayed'];

/**
 * The failure of a manual reload, until the workload is reloaded or created again, or reloaded at another request, as that of a retry. A
 * request ends with its failure, so nothing is pending because of it. While another reload is pending and held, that is told instead.
 */
export function failedRequest(
  outcomes: readonly Outcome[],
  due: PendingCause | null = null,
): Outcome | undefined {
  const undone = due === 'owed' ? UNDONE : [...UNDONE, ...WAITING];
  const leavesUndone = (outcome: Outcome): boolean =>
    outcome.entry.request === undefined && !isOfNew(outcome.entry) && undone.includes(outcomeState(outcome));
  const latest = outcomes.findLast((outcome) => !leavesUndone(outcome));
  return latest?.entry.state === 'failed' ? latest : undefined;
}

/** How the last attempt at what is pending, or at a manual reload, ended. Null: it went well, or a new job makes another one. */
export function attemptView(
  outcomes: readonly Outcome[],
  { due, job }: { due: PendingCause | null; job: LiveJob | undefined },
): Workload['lastAttempt'] {
  const latest = outcomes.at(-1);
  const ofPending = due !== null || latest?.entry.request !== undefined ? latest : undefined;
  if (ofPending?.entry.state === 'retrying') return viewOf('retrying', ofPending);
  const failure = ofPending?.entry.state === 'failed' ? ofPending : failedRequest(outcomes, due);
  return failure && !isNewJob(job) ? viewOf('failed', failure) : null;
}

function viewOf(state: 'retrying' | 'failed', { entry }: Outcome): Workload['lastAttempt'] {
  const { reason, at, error = null } = entry;
  return { state, reason, at: timeOf(at), error };
}
