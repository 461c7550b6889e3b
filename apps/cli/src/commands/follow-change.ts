import { setTimeout as sleep } from 'node:timers/promises';
import { keyOf } from '@reroll/core/model';
import type { Change, ChangeWorkload } from '@reroll/shared/api/changes';
import type { Waves } from '@reroll/shared/api/waves';
import type { WorkloadRef } from '../args/object-ref.ts';
import { CliError, EXIT, type ExitCode } from '../errors.ts';
import { humanDuration } from '../output/age.ts';
import { safeText } from '../output/safe-text.ts';
import type { Session } from '../session.ts';
import { ENDS } from './follow-ends.ts';
import { FollowProgress } from './follow-progress.ts';
import { wavesOf } from './waves-of.ts';

export interface Followed {
  readonly change: string;
  /** Undefined: all workloads that the change lists, and that it reloads. */
  readonly workload?: WorkloadRef;
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
}

/** What was seen of a change. */
export interface Seen {
  readonly change: Change;
  readonly workloads: readonly ChangeWorkload[];
  /** Only of a change as a whole that comes in waves, and only on a terminal. */
  readonly waves: Waves | undefined;
}

const POLL_MS = 1_000;

/**
 * Reads the change again and again, and shows its progress on standard error, until its workloads, or the one that is asked for, are
 * rolled out or will not be, or the time is over.
 * @throws the admin's refusal; what may pass (404, 429, 5xx, no connection) is passed over
 */
export async function followChange(session: Session, followed: Followed): Promise<ExitCode> {
  const { io } = session;
  const deadline = io.now() + (followed.timeoutMs ?? Infinity);
  const progress = new FollowProgress(io);
  while (!io.signal.aborted) {
    const looked = await look(session, followed);
    if (looked instanceof CliError) progress.lost(looked);
    else {
      progress.tell(looked);
      const code = endOf(looked, followed);
      if (code !== undefined) {
        tellUnknown(session, looked, followed);
        return code;
      }
    }
    if (io.now() >= deadline) return notInTime(session, followed, looked);
    const pause = Math.min(POLL_MS, deadline - io.now());
    await sleep(pause, undefined, { signal: io.signal }).catch(() => undefined);
  }
  return EXIT.interrupted;
}

/** Undefined: something may still change. */
function endOf({ change, workloads }: Seen, { workload }: Followed): ExitCode | undefined {
  if (workloads.some(({ state }) => ENDS[state] === undefined)) return undefined;
  if (workload !== undefined) {
    const [only] = workloads;
    return only && (ENDS[only.state] === 'done' ? EXIT.done : EXIT.notRolled);
  }
  if (unlistedLeft(change) > 0) return undefined;
  const isFine = workloads.every(({ state }) => ENDS[state] !== 'failed');
  return isFine ? EXIT.done : EXIT.notRolled;
}

/** How many workloads that are not listed may still end; none if that is not known any more. */
function unlistedLeft({ more, counted }: Change): number {
  // For good: counting begins before the change can be read, and ends when the source changes again.
  if (counted === null) return 0;
  const ended = Object.values(counted ?? {}).reduce((sum, count) => sum + count, 0);
  return (more?.woken ?? 0) - ended;
}

function tellUnknown({ io }: Session, { change: { more, counted } }: Seen, { workload }: Followed): void {
  if (counted !== null || workload !== undefined) return;
  const others = `${more?.woken ?? 0} more workloads with a reload job`;
  io.err(`What became of ${others} is not known, because the source has changed again.\n`);
}

function notInTime({ io }: Session, { timeoutMs, workload }: Followed, looked: Seen | CliError): ExitCode {
  io.err(`Not rolled out within ${humanDuration(timeoutMs ?? 0)}.\n`);
  if (looked instanceof CliError) io.err(`The admin could not tell at last: ${safeText(looked.message)}\n`);
  else if (workload !== undefined && looked.workloads.some(isFrozen))
    io.err('reload --override-freeze reloads it in spite of the freeze.\n');
  return EXIT.notInTime;
}

function isFrozen({ state, outcome }: ChangeWorkload): boolean {
  return state === 'held' && outcome === 'Frozen';
}

/** @throws an error that a retry cannot fix */
async function look(session: Session, { change: id, workload }: Followed): Promise<Seen | CliError> {
  const api = await session.admin();
  try {
    const change = await api.call('getChange', { params: { id } });
    if (workload === undefined) {
      const workloads = change.workloads.filter(({ verdict }) => verdict === 'reload');
      // Only the table shows the waves.
      const waves = session.io.redraw && (await wavesOf(api, change));
      return { change, workloads, waves };
    }
    const workloads = change.workloads.filter((each) => keyOf(each.workload) === keyOf(workload));
    return { change, workloads, waves: undefined };
  } catch (error) {
    // The admin may not have read its own entry yet, or be restarting: that is no failure until the time is over.
    if (error instanceof CliError && mayPass(error)) return error;
    throw error;
  }
}

function mayPass({ status }: CliError): boolean {
  return (
    status === 'network' || (status !== undefined && (status === 404 || status === 429 || status >= 500))
  );
}
