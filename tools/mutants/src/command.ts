/** The command line of the mutants. */
import { parseArgs } from 'node:util';
import { inLanes } from '../../../e2e/support/in-lanes.ts';
import { mutants } from './list/mutants.ts';
import { SIMULATION, type Mutant } from './mutant.ts';
import { isInOrder, judgeBySimulation, RUNS } from './simulation.ts';
import { judgeBySpec } from './specs.ts';
import type { Verdict } from './verdict.ts';

const USAGE =
  'Usage: npm run -s mutants [-- --only PART]   judges all mutants, or those whose names have this part';

/** On two cores. */
const AT_ONCE = 2;

interface Flags {
  readonly only: string;
  readonly help: boolean;
}

/** Sets the exit code: 1 if a mutant survives, 2 for a flag that cannot be read. */
export async function command(argv: readonly string[]): Promise<void> {
  const flags = readFlags(argv);
  if (flags === undefined) return;
  const chosen = mutants.filter(({ name }) => name.includes(flags.only));
  if (flags.help) console.log(USAGE);
  else if (chosen.length === 0) refuse(`--only: no mutant has ${JSON.stringify(flags.only)} in its name`);
  else await judgeAll(chosen);
}

function readFlags(argv: readonly string[]): Flags | undefined {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        only: { type: 'string', default: '' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

function refuse(problem: string): void {
  console.error(`${problem}\n${USAGE}`);
  process.exitCode = 2;
}

async function judgeAll(chosen: readonly Mutant[]): Promise<void> {
  const usable = await isSimulationInOrder(chosen);
  let count = 0;
  await inLanes(chosen, AT_ONCE, async (mutant) => {
    const { isKilled, text } = await judge(mutant);
    if (isKilled) count += 1;
    console.log(`${mutant.name}: ${text}`);
  });
  process.exitCode = usable && count === chosen.length ? 0 : 1;
  console.log(`${count} of ${chosen.length} mutants killed`);
}

/** A run that fails without a mutant proves nothing about one. */
async function isSimulationInOrder(chosen: readonly Mutant[]): Promise<boolean> {
  if (!chosen.some(({ killedBy }) => killedBy === SIMULATION)) return true;
  const isUsable = await isInOrder();
  console.log(`no mutant: ${RUNS} runs of the simulation are ${isUsable ? 'in order' : 'NOT IN ORDER'}`);
  return isUsable;
}

async function judge(mutant: Mutant): Promise<Verdict> {
  const { killedBy } = mutant;
  if (killedBy === SIMULATION) return await judgeBySimulation(mutant);
  return await judgeBySpec(mutant, killedBy.spec, killedBy.test);
}
