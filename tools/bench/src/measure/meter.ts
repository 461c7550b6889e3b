import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { sum } from './numbers.ts';
import { type NamedProcess, parseBusySeconds, type ProcessFigures, usageOf } from './proc.ts';

/** What a stretch of time took. */
export interface Metered {
  /** CPU time in it; memory as it was at its end. */
  readonly processes: readonly ProcessFigures[];
  /** CPU time of these processes together. */
  readonly cpuSeconds: number;
  /** CPU time of everything else on the machine, in percent of all cores; NaN where there is no /proc. */
  readonly foreignPercent: number;
}

/** Measures from now until the returned function is called. */
export function meter(processes: readonly NamedProcess[]): () => Metered {
  const began = performance.now();
  const busyBefore = busySeconds();
  const before = new Map(processes.map(({ name, pid }) => [name, usageOf(pid)?.cpuSeconds ?? 0]));
  return () => {
    const seconds = (performance.now() - began) / 1000;
    const figures = processes.flatMap(({ name, pid }) => {
      const usage = usageOf(pid);
      if (usage === undefined) return [];
      return [{ ...usage, name, cpuSeconds: usage.cpuSeconds - (before.get(name) ?? 0) }];
    });
    const cpuSeconds = sum(figures.map((process) => process.cpuSeconds));
    const foreign = Math.max(0, busySeconds() - busyBefore - cpuSeconds);
    return {
      processes: figures,
      cpuSeconds,
      foreignPercent: (100 * foreign) / (seconds * availableParallelism()),
    };
  };
}

function busySeconds(): number {
  try {
    return parseBusySeconds(readFileSync('/proc/stat', 'utf8'));
  } catch {
    return Number.NaN;
  }
}
