import type { OutcomeEntry } from '@reroll/core/history/entries';
import type { Outcome } from '@reroll/core/history/join';
import type { SourceName } from '@reroll/core/state/rows';

/**
 * Whether a workload was recorded although its pods may have older data, and not reloaded since, as far as its history goes.
 * `source`: data of this one.
 */
export function isStale(outcomes: readonly Outcome[], source?: SourceName): boolean {
  const told = outcomes.findLast(({ entry }) => staleAfter(entry, source) !== undefined);
  return told !== undefined && staleAfter(told.entry, source) === true;
}

/** Undefined: the outcome leaves it as it was. */
export function staleAfter(
  { state, reason, sources }: OutcomeEntry,
  source?: SourceName,
): boolean | undefined {
  if (state === 'reloaded') return false;
  const isAdopted = source === undefined ? reason === 'StaleAtAdoption' : sources[source] === 'AdoptStale';
  return isAdopted ? true : undefined;
}
