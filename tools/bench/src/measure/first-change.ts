import type { Figures } from '../report/figures.ts';
import { median } from './numbers.ts';
import type { Outcome } from './rollout-log.ts';

/** Milliseconds from the first change of the only source to the patch of its workload, however often the change had to be repeated. */
export function firstLatency(outcomes: readonly Outcome[], firstAt: number): number {
  return (outcomes[0]?.rolledAt ?? Number.NaN) - firstAt;
}

/** The median of the first changes after several starts, and what it is of that of later ones; nothing if none is known. */
export function firstFigures(firsts: readonly (number | undefined)[], laterMs = Number.NaN): Figures {
  const known = firsts.filter((first) => first !== undefined);
  if (known.length === 0) return {};
  const firstMs = median(known);
  return { firstMs, firstVersusLater: firstMs / laterMs };
}
