import type { Status } from '@reroll/shared/api/status';
import type { History } from '@reroll/redis/history/history';
import type { RuntimeLimits } from '@reroll/redis/processes/limits';
import type { Process, Processes } from '@reroll/redis/processes/processes';
import type { JobBoard } from '../jobs/job-board.ts';
import { visibility, type Caller } from '../auth/caller.ts';
import { timeOf } from '../time-of.ts';

/** The parts of the status that come from Redis, which are empty while it is unreachable. */
export type InstallStatus = Pick<
  Status,
  'leader' | 'processes' | 'lagSeconds' | 'owed' | 'history' | 'limits'
> & { readonly live: readonly Process[] | undefined; readonly paused: readonly string[] };

export const UNKNOWN: InstallStatus = {
  leader: null,
  processes: [],
  lagSeconds: null,
  owed: null,
  history: null,
  limits: { concurrency: null, reloadsPerMinute: null },
  live: undefined,
  paused: [],
};

export interface InstallParts {
  readonly processes: Processes;
  readonly history: History;
  readonly limits: RuntimeLimits;
  readonly board: JobBoard;
}

/** The status as far as the caller may see it. Rejects if Redis cannot be reached. */
export async function installStatus(parts: InstallParts, caller: Caller): Promise<InstallStatus> {
  const { all } = await visibility(caller);
  const [processes, limits, queues, history] = await Promise.all([
    parts.processes.all(),
    parts.limits.get(),
    parts.board.queues(caller),
    all ? historyStatus(parts.history) : null,
  ]);
  const live = processes.filter(({ isLive }) => isLive);
  const leader = live.find((process) => process.leader === true);
  return {
    leader: leader?.name ?? null,
    processes: live.map(processView),
    lagSeconds: Math.max(...queues.map(({ oldestDueSeconds }) => oldestDueSeconds)),
    owed: all ? owedView(leader) : null,
    history,
    limits: {
      concurrency: limits.concurrency ?? null,
      reloadsPerMinute: limits.reloadsPerMinute ?? null,
    },
    live,
    paused: queues.filter(({ paused }) => paused).map(({ name }) => name),
  };
}

async function historyStatus(history: History): Promise<Status['history']> {
  const [changes, oldest] = await Promise.all([history.count('changes'), history.oldest('changes')]);
  return { changes, oldest: oldest === undefined ? null : timeOf(Number(oldest.split('-')[0])) };
}

function processView(process: Process): Status['processes'][number] {
  const { app, name, version, startedAt, seenAt, leader, synced, concurrency } = process;
  const isWatcher = app === 'watcher';
  return {
    app,
    name,
    version,
    startedAt: timeOf(startedAt),
    seenAt: timeOf(seenAt),
    role: isWatcher ? (leader === true ? 'leader' : 'standby') : null,
    synced: synced ?? null,
    concurrency: concurrency ?? null,
  };
}

function owedView(leader: Process | undefined): Status['owed'] {
  const owed = leader?.owed;
  if (!owed) return null;
  return { workloads: owed.workloads, oldest: owed.since === null ? null : timeOf(owed.since) };
}
