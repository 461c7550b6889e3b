/** Has the simulations judge a mutant. Only their command line is used. */
import { join } from 'node:path';
import { environmentOf } from './given-mutant.ts';
import type { Change } from './mutant.ts';
import { lastLine, runNode, type Ended } from './run.ts';
import { killed, noVerdict, survived, type Verdict } from './verdict.ts';

export type Simulation = 'shipped';

const LOADED_WITH = ['--import', join(import.meta.dirname, 'load-mutant.ts')];

interface Program {
  readonly command: readonly string[];
  /** Runs at a time: few at first, because most mutants are killed by the first seeds. */
  readonly batches: readonly number[];
  /** The first failing run: what is wrong, if that is told, and the seed. */
  readonly failing: RegExp;
}

const PROGRAMS: Readonly<Record<Simulation, Program>> = {
  shipped: {
    command: ['tools/simulation/src/main.ts'],
    batches: [4, 8, 16],
    failing: /^failing: (?<what>.*)\n.* --seed (?<seed>\d+)$/mu,
  },
};

/** The runs that a mutant is killed by. Without a mutant, all of them have to be in order. */
export function runsOf(simulation: Simulation): number {
  return PROGRAMS[simulation].batches.reduce((sum, runs) => sum + runs, 0);
}

export async function judgeBySimulation(mutant: Change, simulation: Simulation): Promise<Verdict> {
  const { command, batches } = PROGRAMS[simulation];
  let from = 0;
  for (const runs of batches) {
    const args = [...LOADED_WITH, ...command, '--from', String(from), '--seeds', String(runs)];
    const verdict = verdictOf(await runNode(args, environmentOf(mutant)), simulation);
    if (verdict !== undefined) return verdict;
    from += runs;
  }
  return survived(`${from} runs of the simulation (${simulation})`);
}

/** Whether every run that judges mutants is in order without one. */
export async function isInOrder(simulation: Simulation): Promise<boolean> {
  const runs = String(runsOf(simulation));
  const { code } = await runNode([...PROGRAMS[simulation].command, '--seeds', runs], {});
  return code === 0;
}

/** Undefined if every run was in order. */
function verdictOf({ code, output }: Ended, simulation: Simulation): Verdict | undefined {
  if (code === 0) return undefined;
  const { seed, what = '' } = PROGRAMS[simulation].failing.exec(output)?.groups ?? {};
  if (code !== 1 || seed === undefined) return noVerdict(lastLine(output));
  return killed(what === '' ? `seed ${seed} of the simulation (${simulation})` : `seed ${seed}: ${what}`);
}
