import { collectionPath, type KubeObject } from '@reroll/kube/objects';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { ClusterError } from '../../../cluster/src/errors.ts';
import type { Bench } from '../bench.ts';
import { Changer } from '../changes.ts';
import { rest } from '../floor.ts';
import { KINDS } from '../kinds.ts';
import { meter, type Metered } from './meter.ts';
import { percentile, sum } from './numbers.ts';
import { untilQuiet } from './quiet.ts';
import { latencies, type Tally } from './rollout-log.ts';
import { changeOneByOne } from '../run.ts';
import { type Session, withSession } from '../session.ts';
import type { Result, Task } from '../task.ts';
import { createWorkSet, type WorkSet } from '../work-set.ts';

/** Changes before those that count: the code of new processes is not compiled yet. */
const WARM_UP = 20;
/** How often to wait for a minute until nobody writes workloads. */
const MINUTES = 15;

interface Phase {
  readonly tally: Tally;
  readonly metered: Metered;
  readonly seconds: number;
}

/**
 * The same changes twice in one run: while the workloads of the set are adopted, and afterwards. What changes is a
 * set of its own whose workloads are recorded, so that the work for a change is the same both times.
 */
export async function measureAdoption({ bench, scenario, set, keep }: Task): Promise<Result> {
  const { changes } = scenario.load;
  const shape = { prefix: 'changed', workloads: changes, namespaces: 1, sharing: 1 };
  const changed = await createWorkSet(bench, shape);
  await rest(bench);
  return await withSession(bench, { keep, settles: false }, async (session) => {
    await changeAll({ bench, session, set: changed }, WARM_UP);
    const before = await unrecorded(bench, set);
    const during = await changeAll({ bench, session, set: changed }, changes);
    const left = await unrecorded(bench, set);
    if (left === 0)
      throw new ClusterError('expected adoption to outlast the changes, given too few workloads');
    bench.log(`${before - left} of ${before} workloads were adopted meanwhile`);
    await untilAdopted(bench, { session, set });
    const idle = await changeAll({ bench, session, set: changed }, changes);
    return resultOf(
      { scenario, session },
      { during, idle, adoptedPerSecond: (before - left) / during.seconds },
    );
  });
}

async function changeAll(
  { bench, session, set }: { bench: Bench; session: Session; set: WorkSet },
  count: number,
): Promise<Phase> {
  const sources = set.sources.slice(0, count);
  const client = bench.api.open(1);
  try {
    const changer = new Changer(client, set, { log: session.log, signal: bench.signal });
    await changer.warmUp(sources, 1);
    const usage = meter(session.processes);
    const began = performance.now();
    await changeOneByOne({ bench, session, sources }, changer);
    const seconds = (performance.now() - began) / 1000;
    session.verify();
    return { tally: session.log.finish(), metered: usage(), seconds };
  } finally {
    await client.close();
  }
}

/** Workloads of the set that are not adopted yet. */
async function unrecorded({ api, options }: Bench, { shape }: WorkSet): Promise<number> {
  const path = collectionPath(KINDS[options.kind]);
  const { body } = await api.client.get<{ items: readonly KubeObject[] }>(path);
  return body.items.filter(
    ({ metadata: { namespace, annotations = {} } }) =>
      namespace.startsWith(`bench-${shape.prefix}-`) && !(RECORD_ANNOTATION in annotations),
  ).length;
}

async function untilAdopted(bench: Bench, by: { session: Session; set: WorkSet }): Promise<void> {
  for (let minute = 0; minute < MINUTES; minute += 1) {
    if ((await untilQuiet(by.session.watch, bench.signal)) && (await unrecorded(bench, by.set)) === 0) return;
  }
  throw new ClusterError(`expected every workload to be adopted within ${MINUTES} minutes`);
}

function resultOf(
  { scenario, session }: { scenario: Task['scenario']; session: Session },
  by: { during: Phase; idle: Phase; adoptedPerSecond: number },
): Result {
  const [during, idle] = [by.during, by.idle].map(({ tally }) => latencies(tally.outcomes));
  const tallies = [by.during.tally, by.idle.tally];
  const p50 = { during: percentile(during ?? [], 0.5), idle: percentile(idle ?? [], 0.5) };
  const { metered } = by.during;
  const figures = {
    rolled: sum(tallies.map(({ rolled }) => rolled)),
    missed: sum(tallies.map(({ missed }) => missed)),
    duplicates: sum(tallies.flatMap(({ surplus }) => [...surplus.values()])),
    startupRollouts: session.startupRollouts,
    adoptionP50Ms: p50.during,
    adoptionP90Ms: percentile(during ?? [], 0.9),
    adoptionMaxMs: Math.max(...(during ?? [])),
    singleP50Ms: p50.idle,
    singleP90Ms: percentile(idle ?? [], 0.9),
    singleMaxMs: Math.max(...(idle ?? [])),
    adoptionRatio: p50.during / p50.idle,
    adoptedPerSecond: by.adoptedPerSecond,
    foreignPercent: metered.foreignPercent,
  };
  const run = { figures, latencies: during ?? [], metered, requests: new Map<string, number>() };
  return { scenario, figures, runs: [run], processes: metered.processes, requests: run.requests };
}
