/** The command line of the simulation. */
import { parseArgs } from 'node:util';
import { countBranches } from './branches.ts';
import { planOf, type Plan } from './plan.ts';
import { loadWait } from './pods/waits.ts';
import { loadApps } from './process.ts';
import { digestOf, runPlan } from './run.ts';
import { shrink } from './shrink.ts';
import { problemsOf, sweep } from './sweep.ts';

const USAGE = `Usage: npm run -s simulate -- [options]      many runs, from seed S (default 0) on
       npm run -s simulate -- --seed S       replays one, with its trace; shrunk if it fails

  --seeds N     so many runs (default 100)
  --seconds N   as many runs as begin within N seconds, in place of --seeds
  --from S      the first seed
  --digests     print a digest of the trace of each run
  --branches    print how often the runs took each branch of the processors; fail if there is one that none took`;

interface Flags {
  readonly seeds: string;
  readonly seconds?: string;
  readonly from: string;
  readonly seed?: string;
  readonly digests: boolean;
  readonly branches: boolean;
  readonly help: boolean;
}

/** Sets the exit code of the process. */
export async function command(argv: readonly string[]): Promise<void> {
  const flags = readFlags(argv);
  if (flags === undefined) return;
  if (flags.help) return console.log(USAGE);
  const { seed, seeds, seconds, from, digests } = flags;
  const limits = {
    from: numberOf('from', from),
    seeds: seconds === undefined ? numberOf('seeds', seeds) : Infinity,
    seconds: seconds === undefined ? Infinity : numberOf('seconds', seconds),
  };
  const branches = flags.branches ? await countBranches() : undefined;
  await loadApps();
  await loadWait();
  if (seed === undefined) process.exitCode = await sweep({ ...limits, digests, branches });
  else await replay(numberOf('seed', seed));
}

function readFlags(argv: readonly string[]): Flags | undefined {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        seeds: { type: 'string', default: '100' },
        seconds: { type: 'string' },
        from: { type: 'string', default: '0' },
        seed: { type: 'string' },
        digests: { type: 'boolean', default: false },
        branches: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}

function numberOf(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`--${flag}: expected a whole number, given ${JSON.stringify(text)}`);
  return process.exit(2);
}

async function replay(seed: number): Promise<void> {
  const plan: Plan = planOf(seed);
  const result = await runPlan(plan);
  const failed = result.violations.length > 0;
  const shown = failed ? await shrink(result) : result;
  console.log([...shown.trace, ...problemsOf(shown)].join('\n'));
  console.log(`seed ${seed}: ${failed ? 'fails' : 'is in order'}, ${digestOf(result)}`);
  process.exitCode = failed ? 1 : 0;
}
