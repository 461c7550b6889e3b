/** Has the simulation judge a mutant. Only their command line is used. */
import { join } from 'node:path';
import { environmentOf } from './given-mutant.ts';
import type { Change } from './mutant.ts';
import { lastLine, runNode, type Ended } from './run.ts';
import { killed, noVerdict, survived, type Verdict } from './verdict.ts';

const LOADED_WITH = ['--import', join(import.meta.dirname, 'load-mutant.ts')];
const MAIN = 'tools/simulation/src/main.ts';
/** Runs at a time: few at first, because most mutants are killed by the first seeds. */
const BATCHES = [4, 8, 16];
/** The runs that a mutant is killed by. Without a mutant, all of them have to be in order. */
export const RUNS = BATCHES.reduce((sum, runs) => sum + runs, 0);
/** The first failing run: what is wrong, and the seed. */
const FAILING = /^failing: (?<what>.*)\n.* --seed (?<seed>\d+)$/mu;

export async function judgeBySimulation(mutant: Change): Promise<Verdict> {
  let from = 0;
  for (const runs of BATCHES) {
    const args = [...LOADED_WITH, MAIN, '--from', String(from), '--seeds', String(runs)];
    const verdict = verdictOf(await runNode(args, environmentOf(mutant)));
    if (verdict !== undefined) return verdict;
    from += runs;
  }
  return survived(`${from} runs of the simulation`);
}

/** Whether every run that judges mutants is in order without one. */
export async function isInOrder(): Promise<boolean> {
  const { code } = await runNode([MAIN, '--seeds', String(RUNS)], {});
  return code === 0;
}

/** Undefined if every run was in order. */
function verdictOf({ code, output }: Ended): Verdict | undefined {
  if (code === 0) return undefined;
  const { seed, what } = FAILING.exec(output)?.groups ?? {};
  return code === 1 && seed !== undefined ? killed(`seed ${seed}: ${what}`) : noVerdict(lastLine(output));
}
