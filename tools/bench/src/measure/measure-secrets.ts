import type { Bench } from '../bench.ts';
import { combine, type Figures } from '../report/figures.ts';
import { median } from './numbers.ts';
import { untilMemoryIsSettled, usageOf, type NamedProcess, type ProcessFigures } from './proc.ts';
import { type Session, withSession } from '../session.ts';
import { repeat, type Result, type Task } from '../task.ts';
import { createSecrets } from '../work-set.ts';

/** The memory of idle processes, started once without the Secrets and once with them. */
export async function measureSecrets(task: Task): Promise<Result> {
  const { bench, scenario, set } = task;
  const before = await repeat(task, async () => await idle(bench));
  const { secrets } = scenario.load;
  if (secrets !== undefined) await createSecrets(bench, set, secrets);
  const after = await repeat(task, async () => await idle(bench));
  const [without, having] = [combine(before.map(memory), median), combine(after.map(memory), median)];
  const { leaderWithMb: leaderWithoutMb = Number.NaN, smallInstallMb } = without;
  const leaderWithMb = having.leaderWithMb ?? Number.NaN;
  const figures = {
    leaderWithoutMb,
    leaderWithMb,
    leaderAboveMb: leaderWithMb - leaderWithoutMb,
    idleMaxMb: Math.max(without.idleMaxMb ?? Number.NaN, having.idleMaxMb ?? Number.NaN),
    ...(smallInstallMb === undefined ? {} : { smallInstallMb }),
  };
  return { scenario, figures, runs: [], processes: after.at(-1)?.processes ?? [], requests: new Map() };
}

/** A reloader that has just started and has had nothing to do since. */
interface Idle {
  readonly session: Session;
  readonly processes: readonly ProcessFigures[];
}

async function idle(bench: Bench): Promise<Idle> {
  return await withSession(bench, async (session) => {
    await untilMemoryIsSettled(bench.signal);
    session.verify();
    const processes = session.processes.flatMap(({ name, pid }) => {
      const usage = usageOf(pid);
      return usage === undefined ? [] : [{ ...usage, name }];
    });
    return { session, processes };
  });
}

function memory({ session, processes }: Idle): Figures {
  const residentOf = (those: readonly NamedProcess[]): number[] =>
    those.map(({ name }) => processes.find((process) => process.name === name)?.residentMb ?? Number.NaN);
  const { started } = session;
  const leaders = residentOf(started.watchers.length > 0 ? started.watchers : started.processes);
  const [watcher, worker] = [leaders[0], residentOf(started.workers)[0]];
  const redis = processes.find(({ name }) => name === 'redis')?.residentMb;
  const isSmall = watcher !== undefined && worker !== undefined && redis !== undefined;
  return {
    // A standby keeps what the leader keeps.
    leaderWithMb: Math.max(...leaders),
    idleMaxMb: Math.max(...residentOf(started.processes)),
    ...(isSmall ? { smallInstallMb: watcher + worker + redis } : {}),
  };
}
