import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterError } from '../../cluster/src/errors.ts';
import { type Bench, surroundings } from './bench.ts';
import { Changer } from './changes.ts';
import { sum } from './measure/numbers.ts';
import type { NamedProcess } from './measure/proc.ts';
import { Processes } from './processes.ts';
import { untilQuiet } from './measure/quiet.ts';
import { startReloader, type Started } from './reloader.ts';
import { firstLatency } from './measure/first-change.ts';
import { RolloutLog } from './measure/rollout-log.ts';
import { RolloutWatch } from './measure/rollout-watch.ts';
import { idText } from './work.ts';

/** A reloader that runs and reacts, and a watch of what it does. */
export interface Session {
  readonly started: Started;
  readonly log: RolloutLog;
  readonly watch: RolloutWatch;
  /** The reloader's, the servers' and the bench itself. */
  readonly processes: readonly NamedProcess[];
  /** Rollouts between the start and the first change that the bench made. */
  readonly startupRollouts: number;
  /** From the first change after the start to its patch; undefined for a reloader that does not say when it is ready. */
  readonly firstMs: number | undefined;
  /** @throws ClusterError when the watch broke or a process ended: then the run is worth nothing. */
  verify(): void;
}

/** Starts the reloader, waits until it reacts and all is quiet, does the work, and stops it in any case. */
export async function withSession<T>(bench: Bench, work: (session: Session) => Promise<T>): Promise<T> {
  const log = new RolloutLog(bench.generations, bench.markers);
  const watch = new RolloutWatch(bench.api.client, log);
  const processes = new Processes();
  try {
    await watch.start();
    return await work(await open(bench, { log, watch, processes }));
  } finally {
    await watch.stop();
    await processes.stop();
  }
}

interface Parts {
  readonly log: RolloutLog;
  readonly watch: RolloutWatch;
  readonly processes: Processes;
}

async function open(bench: Bench, parts: Parts): Promise<Session> {
  const { log, watch, processes } = parts;
  const { kubeconfig, redisUrl = '' } = bench.cluster;
  const place = { kubeconfig, redisUrl, signal: bench.signal };
  const began = performance.now();
  const started = await startReloader(bench.options.subject, place, processes);
  const verify = (): void => {
    watch.verify();
    processes.verify();
  };
  const firstAt = await untilItReacts(bench, log, verify);
  bench.log(`the reloader reacts ${((performance.now() - began) / 1000).toFixed(1)} s after its start`);
  if (!(await untilQuiet(watch, bench.signal))) bench.log('somebody writes workloads all the time: going on');
  verify();
  const canary = canaryNames(bench);
  const { surplus, outcomes } = log.finish();
  const others = [...surplus].filter(([workload]) => !canary.has(workload));
  return {
    started,
    log,
    watch,
    verify,
    processes: [...started.processes, ...surroundings(bench)],
    firstMs: started.syncSeconds === undefined ? undefined : firstLatency(outcomes, firstAt),
    startupRollouts: sum(others.map(([, count]) => count)),
  };
}

const REACTS_WITHIN_MS = 120_000;
const ASK_AGAIN_MS = 3000;

/**
 * Changes the canary until it is rolled: only this tells of any reloader that it is ready. What another
 * reloader does not see while it starts, it may never see, so the change is repeated. Returns when the first was made.
 */
async function untilItReacts(bench: Bench, log: RolloutLog, verify: () => void): Promise<number> {
  const changer = new Changer(bench.api.client, bench.canary, { log, signal: bench.signal });
  await changer.warmUp(bench.canary.sources, 1);
  const firstAt = performance.now();
  do {
    if (performance.now() > firstAt + REACTS_WITHIN_MS) {
      throw new ClusterError(`expected the reloader to roll a workload within ${REACTS_WITHIN_MS / 1000} s`);
    }
    await changer.changeAll(bench.canary.sources, 1);
    const askAgain = performance.now() + ASK_AGAIN_MS;
    while (log.pending > 0 && performance.now() < askAgain) {
      verify();
      await sleep(20, undefined, { signal: bench.signal });
    }
  } while (log.pending > 0);
  return firstAt;
}

function canaryNames(bench: Bench): ReadonlySet<string> {
  return new Set(bench.canary.sources.flatMap(({ workloads }) => workloads.map(idText)));
}
