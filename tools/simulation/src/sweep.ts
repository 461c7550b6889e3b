/** Runs many seeds, and reports what happened in them. */
import { REASONS } from '@reroll/core/reasons';
import { complaintsOf, type Branch } from './branches.ts';
import { planOf } from './plan.ts';
import { CLEAN_FAILOVER } from './succession.ts';
import { digestOf, runPlan, type Result } from './run.ts';

export interface SweepOptions {
  readonly from: number;
  /** Runs at most; `Infinity`: no limit. */
  readonly seeds: number;
  /** Real seconds after which no run begins any more; `Infinity`: no limit. */
  readonly seconds: number;
  readonly digests: boolean;
  /** Gives the branches that were taken; undefined if nobody asked. */
  readonly branches: (() => Promise<readonly Branch[]>) | undefined;
}

/** Prints each failing run when it ends. Resolves with the exit code: 1 if a run failed, or a branch was never taken. */
export async function sweep(options: SweepOptions): Promise<0 | 1> {
  const totals = new Totals();
  for await (const result of runs(options)) {
    if (options.digests) console.log(`seed ${result.plan.seed}: ${digestOf(result)}`);
    if (result.violations.length > 0) console.log(failureOf(result));
    totals.add(result);
  }
  const branches = await options.branches?.();
  for (const { file, line, text, count } of branches ?? [])
    console.log(`${file}:${line}: ${count} (${text})`);
  const complaints = branches ? complaintsOf(branches) : [];
  for (const line of [...totals.lines(), ...complaints]) console.log(line);
  return totals.failing + complaints.length > 0 ? 1 : 0;
}

async function* runs({ from, seeds, seconds }: SweepOptions): AsyncGenerator<Result> {
  const clock = realClock();
  for (let run = 0; run < seeds && clock() < seconds; run += 1) yield await runPlan(planOf(from + run));
}

class Totals {
  failing = 0;
  /** A reason that never occurred is reported, too. */
  readonly #seen = new Map(Object.keys(REASONS).map((reason) => [`reason ${reason}`, 0]));
  #runs = 0;
  /** Runs in which a standby that had seen everything took the lead. */
  #clean = 0;
  #reloads = 0;

  add(result: Result): void {
    this.#runs += 1;
    this.#reloads += result.reloads;
    for (const [what, count] of result.seen) this.#seen.set(what, (this.#seen.get(what) ?? 0) + count);
    if (result.seen.has(CLEAN_FAILOVER)) this.#clean += 1;
    if (result.violations.length > 0) this.failing += 1;
  }

  lines(): string[] {
    const seen = [...this.#seen].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const summary = `${this.#runs} runs, ${this.#reloads} reloads, ${this.failing} failing`;
    const clean = `runs with a ${CLEAN_FAILOVER}: ${this.#clean} of ${this.#runs}`;
    return [summary, clean, ...seen.map(([what, count]) => `${what}: ${count}`)];
  }
}

/** Real seconds since now. The simulation replaces the other clocks. */
function realClock(): () => number {
  const start = process.hrtime.bigint();
  return () => Number(process.hrtime.bigint() - start) / 1e9;
}

function failureOf(result: Result): string {
  return `failing: ${problemsOf(result).join('; ')}\n  npm run -s simulate -- --seed ${result.plan.seed}`;
}

/** What went wrong in a run, as texts. */
export function problemsOf({ violations }: Result): string[] {
  return violations.map(({ kind, text }) => `${kind}: ${text}`);
}
