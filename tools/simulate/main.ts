/** Runs the randomised simulation of the protocol, or replays one schedule. Exit 1 if a schedule fails, 2 for a flag that cannot be read. */
import { parseArgs } from 'node:util';
import { report, runSeed, shrink } from '@reroll/core/testing/simulation/run';

function numberOf(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`--${flag}: expected a whole number, given ${JSON.stringify(text)}`);
  return process.exit(2);
}

function replay(seed: number): void {
  const run = runSeed(seed);
  const failed = run.failures.length > 0;
  console.log(report(failed ? shrink(run) : run));
  process.exitCode = failed ? 1 : 0;
}

function sweep(from: number, seeds: number): void {
  const failing: number[] = [];
  const limits = new Map<string, number>();
  let rollouts = 0;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const run = runSeed(seed);
    rollouts += run.world.api.rollouts;
    if (run.failures.length > 0) failing.push(seed);
    for (const kind of new Set(run.limits.map((violation) => violation.kind)))
      limits.set(kind, (limits.get(kind) ?? 0) + 1);
  }
  console.log(`${seeds} schedules, ${rollouts} rollouts, ${failing.length} failing`);
  for (const [kind, count] of [...limits].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`documented limit ${kind}: ${count} schedules`);
  for (const seed of failing.slice(0, 20))
    console.log(`failing seed ${seed}: npm run -s simulate -- --seed ${seed}`);
  process.exitCode = failing.length > 0 ? 1 : 0;
}

const USAGE = `Usage: npm run -s simulate -- [--seeds N] [--from S]   run N seeds (default 20000), from seed S (default 0) on
       npm run -s simulate -- --seed S                replay one seed, shrunk if it fails`;

interface Flags {
  readonly seeds: string;
  readonly from: string;
  readonly seed?: string;
  readonly help: boolean;
}

function readFlags(): Flags {
  try {
    return parseArgs({
      options: {
        seeds: { type: 'string', default: '20000' },
        from: { type: 'string', default: '0' },
        seed: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return process.exit(2);
  }
}

const flags = readFlags();
if (flags.help) console.log(USAGE);
else if (flags.seed === undefined) sweep(numberOf('from', flags.from), numberOf('seeds', flags.seeds));
else replay(numberOf('seed', flags.seed));
