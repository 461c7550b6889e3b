/**
 * Runs the randomised simulation of the protocol, or replays one schedule.
 *
 * Usage: `npm run -s simulate -- [--seeds N] [--from S]` runs N seeds (default 20000) from S (default 0) on;
 * exit 1 if one fails. `npm run -s simulate -- --seed S` replays seed S, shrunk if it fails.
 */
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

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
  },
});
if (values.seed === undefined) sweep(numberOf('from', values.from), numberOf('seeds', values.seeds));
else replay(numberOf('seed', values.seed));
