import { setTimeout as sleep } from 'node:timers/promises';
import type { Change, ChangeWorkload } from '@reroll/shared/api/changes';
import type { ReloadState } from '@reroll/core/history/states';
import type { WorkloadRef } from '../args/object-ref.ts';
import { CliError, EXIT, type ExitCode } from '../errors.ts';
import { humanDuration } from '../output/age.ts';
import { paintFor, toneOf } from '../output/color.ts';
import { safeText } from '../output/safe-text.ts';
import type { Session } from '../session.ts';
import { workloadDetail } from '../views/changes.ts';
import { fullName } from '../views/names.ts';

export interface Awaited {
  readonly change: string;
  readonly workload: WorkloadRef;
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
}

const POLL_MS = 1_000;

/** What a final state means for the wait. Other states may still change. */
const ENDS: Readonly<Partial<Record<ReloadState, ExitCode>>> = {
  rolledOut: EXIT.done,
  stuck: EXIT.notRolled,
  failed: EXIT.notRolled,
  skipped: EXIT.notRolled,
  recorded: EXIT.notRolled,
  wouldReload: EXIT.notRolled,
  forgotten: EXIT.notRolled,
};

/** Waits until a workload of a change is rolled out, will not be, or the time is over; reports each step. */
export async function waitForRollout(session: Session, awaited: Awaited): Promise<ExitCode> {
  const { io } = session;
  const deadline = io.now() + (awaited.timeoutMs ?? Infinity);
  const progress = new Progress(session, awaited);
  while (!io.signal.aborted) {
    const seen = await look(session, awaited);
    if (seen !== undefined && !(seen instanceof CliError)) {
      progress.tell(seen, io.now());
      const end = ENDS[seen.state];
      if (end !== undefined) return end;
    }
    if (io.now() >= deadline) return notInTime(session, awaited, seen);
    await sleep(Math.min(POLL_MS, deadline - io.now()), undefined, { signal: io.signal }).catch(
      () => undefined,
    );
  }
  return EXIT.interrupted;
}

function notInTime({ io }: Session, { timeoutMs }: Awaited, seen: Seen): ExitCode {
  io.err(`Not rolled out within ${humanDuration(timeoutMs ?? 0)}.\n`);
  if (seen instanceof CliError) io.err(`The admin could not tell at last: ${safeText(seen.message)}\n`);
  return EXIT.notInTime;
}

/** The workload's part of the change, if the admin has it yet; else the reason why not. */
type Seen = ChangeWorkload | CliError | undefined;

/** @throws an error that a retry cannot fix */
async function look(session: Session, { change: id, workload }: Awaited): Promise<Seen> {
  const api = await session.admin();
  try {
    const change: Change = await api.call('getChange', { params: { id } });
    return change.workloads.find(
      ({ workload: each }) =>
        each.kind === workload.kind && each.name === workload.name && each.namespace === workload.namespace,
    );
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

/** Prints one line a step on standard error. */
class Progress {
  readonly #session: Session;
  readonly #awaited: Awaited;
  readonly #began: number;
  #told = '';

  constructor(session: Session, awaited: Awaited) {
    this.#session = session;
    this.#awaited = awaited;
    this.#began = session.io.now();
  }

  tell(workload: ChangeWorkload, now: number): void {
    const { io } = this.#session;
    const { state, rollout, outcome, reason } = workload;
    const pods =
      rollout?.desired === undefined
        ? ''
        : ` ${rollout.updated ?? 0}/${rollout.desired} updated, ${rollout.ready ?? 0} ready`;
    const step = `${state}${state === 'reloaded' ? pods : ''}`;
    if (step === this.#told) return;
    this.#told = step;
    const detail = workloadDetail(workload, now);
    const why = [outcome ?? reason, ...(detail === '' ? [] : [detail])].join(': ');
    const shown = paintFor(io, io.errIsTerminal)(safeText(step), toneOf(state));
    const after = humanDuration(now - this.#began);
    io.err(`${fullName(this.#awaited.workload)} ${shown} (${safeText(why)}) after ${after}\n`);
  }
}
