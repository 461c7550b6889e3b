/** The command line of the simulation. */
import { parseArgs } from 'node:util';
import { planOf, type Plan } from './plan.ts';
import { digestOf, runPlan, type Result } from './run.ts';
import { shrink } from './shrink.ts';

const USAGE = `Usage: npm run -s simulate:shipped -- [--seeds N] [--from S] [--digests]   N runs (default 100), from seed S (default 0) on
       npm run -s simulate:shipped -- --seed S                replays one, with its trace; shrunk if it fails\n  --digests   print a digest of the trace of each run`;

interface Flags {
  readonly seeds: string;
  readonly from: string;
  readonly seed?: string;
  readonly digests: boolean;
  readonly help: boolean;
}

export async function command(argv: readonly string[]): Promise<void> {
  const flags = readFlags(argv);
  if (flags === undefined) return;
  if (flags.help) console.log(USAGE);
  else if (flags.seed === undefined) await sweep(seedsOf(flags), flags.digests);
  else await replay(numberOf('seed', flags.seed));
}

function readFlags(argv: readonly string[]): Flags | undefined {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        seeds: { type: 'string', default: '100' },
        from: { type: 'string', default: '0' },
        seed: { type: 'string' },
        digests: { type: 'boolean', default: false },
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

function seedsOf({ from, seeds }: Flags): readonly number[] {
  const first = numberOf('from', from);
  return Array.from({ length: numberOf('seeds', seeds) }, (_, index) => first + index);
}

async function sweep(seeds: readonly number[], digests: boolean): Promise<void> {
  const failing: Result[] = [];
  const seen = new Map<string, number>();
  let reloads = 0;
  for (const seed of seeds) {
    const result = await runPlan(planOf(seed));
    reloads += result.reloads;
    if (digests) console.log(`seed ${seed}: ${digestOf(result)}`);
    for (const [what, count] of result.seen) seen.set(what, (seen.get(what) ?? 0) + count);
    if (result.violations.length > 0) failing.push(result);
  }
  console.log(`${seeds.length} runs, ${reloads} reloads, ${failing.length} failing`);
  for (const [what, count] of [...seen].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${what}: ${count}`);
  for (const { plan, violations } of failing.slice(0, 20)) {
    const all = violations.map(({ kind, text }) => `${kind}: ${text}`);
    console.log(`failing: ${all.join('; ')}\n  npm run -s simulate:shipped -- --seed ${plan.seed}`);
  }
  process.exitCode = Math.min(failing.length, 1);
}

async function replay(seed: number): Promise<void> {
  const plan: Plan = planOf(seed);
  const result = await runPlan(plan);
  const failed = result.violations.length > 0;
  const shown = failed ? await shrink(result) : result;
  console.log(shown.trace.join('\n'));
  console.log(`seed ${seed}: ${failed ? 'fails' : 'is in order'}, ${digestOf(result)}`);
  process.exitCode = failed ? 1 : 0;
}
