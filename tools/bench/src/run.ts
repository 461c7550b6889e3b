import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { Changer } from './changes.ts';
import type { Figures } from './report/figures.ts';
import { percentile, sum } from './measure/numbers.ts';
import { meter, type Metered } from './measure/meter.ts';
import { untilQuiet } from './measure/quiet.ts';
import {
  reloaderRequests,
  requestFigures,
  scale,
  subtract,
  type RequestCounts,
} from './measure/request-counts.ts';
import { latencies, totalTime, type Tally } from './measure/rollout-log.ts';
import type { Session } from './session.ts';
import type { Source } from './work.ts';
import type { WorkSet } from './work-set.ts';

/** One go at the changes of a scenario. */
export interface Run {
  readonly figures: Figures;
  /** Change to patch of every workload that was rolled, in milliseconds. */
  readonly latencies: readonly number[];
  readonly metered: Metered;
  /** Those of the reloader. */
  readonly requests: RequestCounts;
}

export interface RunInput {
  readonly bench: Bench;
  readonly session: Session;
  readonly set: WorkSet;
  /** To be changed once each. */
  readonly sources: readonly Source[];
  /** What the control plane does by itself for each rolled workload. */
  readonly reaction: RequestCounts;
}

/** Writes at most so many sources at the same time. */
const WRITERS = 100;
/** A workload that was not rolled so long after the last rollout counts as missed. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 250;
/** After the last rollout, before counting: time for one too many. */
const LINGER_MS = 2000;

/** All changes at once. */
export async function burst(input: RunInput): Promise<Run> {
  const { run, tally } = await measured(input, async (changer) => {
    await changer.changeAll(input.sources, WRITERS);
    await untilRolled(input);
  });
  const values = latencies(tally.outcomes);
  const figures: Figures = {
    ...run.figures,
    totalMs: totalTime(tally.outcomes),
    p50Ms: percentile(values, 0.5),
    p90Ms: percentile(values, 0.9),
    p99Ms: percentile(values, 0.99),
    maxMs: Math.max(...values),
  };
  return { ...run, figures };
}

/** One change after the other, each with time to rest before it. */
export async function singles(input: RunInput): Promise<Run> {
  const { run, tally } = await measured(input, async (changer) => {
    await changeOneByOne(input, changer);
  });
  const values = latencies(tally.outcomes);
  const figures: Figures = {
    ...run.figures,
    singleP50Ms: percentile(values, 0.5),
    singleP90Ms: percentile(values, 0.9),
    singleMaxMs: Math.max(...values),
  };
  return { ...run, figures };
}

async function changeOneByOne(input: RunInput, changer: Changer): Promise<void> {
  for (const source of input.sources) {
    await sleep(PAUSE_MS, undefined, { signal: input.bench.signal });
    await changer.change(source);
    await untilRolled(input);
  }
}

async function measured(
  input: RunInput,
  work: (changer: Changer) => Promise<void>,
): Promise<{ run: Run; tally: Tally }> {
  const { bench, session, sources } = input;
  const { api, signal } = bench;
  const client = api.open(WRITERS);
  try {
    const changer = new Changer(client, input.set, { log: session.log, signal });
    await changer.warmUp(sources, WRITERS);
    const [all, sent] = [await api.serverRequests(signal), api.ownRequests()];
    await untilQuiet(session.watch, signal);
    const usage = meter(session.processes);
    await work(changer);
    const metered = usage();
    await sleep(LINGER_MS, undefined, { signal });
    await untilQuiet(session.watch, signal);
    session.verify();
    const tally = session.log.finish();
    const own = subtract(api.ownRequests(), sent);
    const reaction = scale(input.reaction, tally.rolled + sum([...tally.surplus.values()]));
    const requests = reloaderRequests(subtract(await api.serverRequests(signal), all), { own, reaction });
    const { foreignPercent } = metered;
    const cpu = ownCpu(metered, { session, rolled: tally.rolled });
    const figures = {
      ...tallyFigures(tally),
      ...requestFigures(requests, tally.rolled),
      foreignPercent,
      ...cpu,
    };
    bench.log(
      `changed ${sources.length} sources: ${tally.rolled} workloads reloaded, ${tally.missed} missed`,
    );
    return { run: { figures, latencies: latencies(tally.outcomes), metered, requests }, tally };
  } finally {
    await client.close();
  }
}

/** What the reloader and its Redis took of all CPU. */
function ownCpu({ processes, cpuSeconds }: Metered, by: { session: Session; rolled: number }): Figures {
  const own = new Set(['redis', ...by.session.started.processes.map(({ name }) => name)]);
  const seconds = sum(processes.filter(({ name }) => own.has(name)).map((each) => each.cpuSeconds));
  return { ownCpuPercent: (100 * seconds) / cpuSeconds, ownCpuMs: (1000 * seconds) / by.rolled };
}

function tallyFigures({ rolled, missed, surplus }: Tally): Figures {
  return { rolled, missed, duplicates: sum([...surplus.values()]) };
}

/** Resolves when everything expected was rolled, or nothing has been for a long while. */
async function untilRolled({ bench, session }: RunInput): Promise<void> {
  const began = performance.now();
  while (session.log.pending > 0) {
    session.verify();
    if (performance.now() - Math.max(began, session.log.lastRolloutAt) > PATIENCE_MS) return;
    await sleep(5, undefined, { signal: bench.signal });
  }
}
