import type { BenchOptions } from '../options.ts';
import { figureRows } from './figures.ts';
import type { Machine } from '../measure/machine.ts';
import type { Subject } from '../reloader.ts';
import type { Result } from '../task.ts';

/** One invocation and all that it measured. */
export interface Report {
  /** ISO 8601, of the start. */
  readonly startedAt: string;
  readonly machine: Machine;
  /** Of the API server, e.g. `v1.36.3`. */
  readonly kubernetes: string;
  readonly options: BenchOptions;
  readonly results: readonly Result[];
}

/** `reroll`, or `other` for another reloader: tells their tables apart. */
export function subjectName(subject: Subject): 'reroll' | 'other' {
  return 'reroll' in subject ? 'reroll' : 'other';
}

/** `1 watcher, 2 workers of 10 jobs at a time, debounce 0`, or the other reloader's command line. */
export function subjectText(subject: Subject): string {
  if (!('reroll' in subject)) return subject.commandLine;
  const { watchers, workers, concurrency, debounce } = subject.reroll;
  const wait = debounce === undefined ? 'default debounce' : `debounce ${debounce}`;
  const plural = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;
  return `Reroll: ${plural(watchers, 'watcher')}, ${plural(workers, 'worker')} of ${plural(concurrency, 'job')} at a time, ${wait}`;
}

/** Fills in what takes more than one scenario to tell. */
export function compared(results: readonly Result[]): Result[] {
  const idle = results.find(({ scenario }) => scenario.name === 'idle')?.figures.singleP50Ms;
  return results.map((result) => {
    const { singleP50Ms } = result.figures;
    if (idle === undefined || singleP50Ms === undefined || result.scenario.method !== 'large') return result;
    return { ...result, figures: { ...result.figures, singleVersusIdle: singleP50Ms / idle } };
  });
}

/** Targets that were not met, as `<scenario>: <figure> <value>, expected <target>`. */
export function unmet(results: readonly Result[]): string[] {
  return results.flatMap(({ scenario, figures }) =>
    figureRows(figures, scenario.targets)
      .filter(({ met }) => met === false)
      .map(({ label, value, target }) => `${scenario.name}: ${label} ${value}, expected ${target}`),
  );
}

/** Everything, with the maps as objects. */
export function toJson(report: Report): string {
  const plain = (_key: string, value: unknown): unknown =>
    value instanceof Map ? Object.fromEntries(value) : value;
  return `${JSON.stringify({ version: 1, ...report }, plain, 2)}\n`;
}
