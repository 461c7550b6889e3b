import type { Bench } from './bench.ts';
import type { Figures } from './report/figures.ts';
import type { Floor } from './floor.ts';
import type { ProcessFigures } from './measure/proc.ts';
import type { RequestCounts } from './measure/request-counts.ts';
import type { Run } from './run.ts';
import type { Scenario } from './scenarios.ts';
import type { WorkSet } from './work-set.ts';

/** What a scenario came to. */
export interface Result {
  readonly scenario: Scenario;
  /** The median of the runs; of what must not happen, the worst. */
  readonly figures: Figures;
  readonly floor?: Floor | undefined;
  readonly runs: readonly Run[];
  /** Of the last run. */
  readonly processes: readonly ProcessFigures[];
  readonly requests: RequestCounts;
}

/** A scenario to be measured. */
export interface Task {
  readonly bench: Bench;
  readonly scenario: Scenario;
  readonly set: WorkSet;
}

/** As often as the command line says. */
export async function repeat<T>({ bench }: Task, once: () => Promise<T>): Promise<T[]> {
  const { repeat: times } = bench.options;
  const results: T[] = [];
  while (results.length < times) results.push(await once());
  return results;
}
