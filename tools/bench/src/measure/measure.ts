import type { Bench } from '../bench.ts';
import { combine, type Figures } from '../report/figures.ts';
import { measureFloor, type Floor } from '../floor.ts';
import { firstFigures } from './first-change.ts';
import { median } from './numbers.ts';
import { measureSecrets } from './measure-secrets.ts';
import { untilMemoryIsSettled, usageOf, type NamedProcess } from './proc.ts';
import { burst, type Run, singles } from '../run.ts';
import { subjectOf } from '../reloader.ts';
import { LARGE_SINGLES, type Method, type Scenario } from '../scenarios.ts';
import { type Session, withSession } from '../session.ts';
import { repeat, type Result, type Task } from '../task.ts';
import { createWorkSet } from '../work-set.ts';

const METHODS: Readonly<Record<Method, (task: Task) => Promise<Result>>> = {
  burst: measureBurst,
  single: measureSingle,
  secrets: measureSecrets,
  large: measureLarge,
};

/** Measures one scenario; its workloads are created unless an earlier one left them. */
export async function measure(bench: Bench, scenario: Scenario): Promise<Result> {
  const { load, workSet, method } = scenario;
  let set = bench.workSets.get(workSet);
  if (set === undefined) {
    const { workloads, namespaces, sharing } = load;
    set = await createWorkSet(bench, { prefix: workSet, workloads, namespaces, sharing });
    bench.workSets.set(workSet, set);
  }
  const options = { ...bench.options, subject: subjectOf(bench.options.subject, scenario) };
  return await METHODS[method]({ bench: { ...bench, options }, scenario, set });
}

async function measureBurst(task: Task): Promise<Result> {
  const { bench, scenario, set } = task;
  const sources = set.sources.slice(0, scenario.load.changes);
  const floor = await measureFloor(bench, set, sources);
  return await withSession(bench, async (session) => {
    const input = { bench, session, set, sources, reaction: floor.reaction };
    const runs = await repeat(task, async () => withFloor(await burst(input), floor));
    return resultOf(scenario, runs, { floor, session });
  });
}

async function measureSingle(task: Task): Promise<Result> {
  const { bench, scenario, set } = task;
  const sources = set.sources.slice(0, scenario.load.changes);
  const { reaction } = await measureFloor(bench, set, sources);
  // There is one first change in each start, and the last start is that of all runs.
  const firsts: (number | undefined)[] = [];
  while (firsts.length < bench.options.repeat - 1)
    firsts.push(await withSession(bench, ({ firstMs }) => Promise.resolve(firstMs)));
  return await withSession(bench, async (session) => {
    const runs = await repeat(task, async () => await singles({ bench, session, set, sources, reaction }));
    const result = resultOf(scenario, runs, { session });
    const first = firstFigures([...firsts, session.firstMs], result.figures.singleP50Ms);
    return { ...result, figures: { ...result.figures, ...first } };
  });
}

async function measureLarge(task: Task): Promise<Result> {
  const { bench, scenario, set } = task;
  const sources = set.sources.slice(0, scenario.load.changes);
  const floor = await measureFloor(bench, set, sources);
  return await withSession(bench, async (session) => {
    await untilMemoryIsSettled(bench.signal);
    const watcherSyncMb = largest(session.started.watchers);
    const input = { bench, session, set, reaction: floor.reaction };
    const runs = await repeat(task, async () => {
      const single = await singles({ ...input, sources: set.sources.slice(0, LARGE_SINGLES) });
      const many = withFloor(await burst({ ...input, sources }), floor);
      return joined(single, many);
    });
    const watcherPeakMb = Math.max(...session.started.watchers.map(({ pid }) => usageOf(pid)?.peakMb ?? 0));
    const { syncSeconds } = session.started;
    const extra = syncSeconds === undefined ? {} : { syncSeconds, watcherSyncMb, watcherPeakMb };
    return resultOf(scenario, runs, { floor, session, extra });
  });
}

/** The second run with what only the first can tell; what must not happen is added up. */
function joined(single: Run, many: Run): Run {
  const { singleP50Ms, singleP90Ms, singleMaxMs, missed = 0, duplicates = 0, lists = 0 } = single.figures;
  const figures = {
    ...many.figures,
    singleP50Ms,
    singleP90Ms,
    singleMaxMs,
    missed: missed + (many.figures.missed ?? 0),
    duplicates: duplicates + (many.figures.duplicates ?? 0),
    lists: lists + (many.figures.lists ?? 0),
  };
  return { ...many, figures: figures as Figures };
}

function largest(processes: readonly NamedProcess[]): number {
  return Math.max(...processes.map(({ pid }) => usageOf(pid)?.residentMb ?? Number.NaN));
}

function withFloor(run: Run, floor: Floor): Run {
  const { totalMs = Number.NaN } = run.figures;
  const cpuRatio = run.metered.cpuSeconds / floor.metered.cpuSeconds;
  return { ...run, figures: { ...run.figures, floorMs: floor.ms, ratio: totalMs / floor.ms, cpuRatio } };
}

function resultOf(
  scenario: Scenario,
  runs: readonly Run[],
  by: { session: Session; floor?: Floor; extra?: Figures },
): Result {
  const { startupRollouts } = by.session;
  const all = combine(
    runs.map(({ figures }) => figures),
    median,
  );
  const { metered, requests = new Map<string, number>() } = runs.at(-1) ?? {};
  const processes = metered?.processes ?? [];
  return {
    scenario,
    figures: { ...all, ...by.extra, startupRollouts },
    floor: by.floor,
    runs,
    processes,
    requests,
  };
}
