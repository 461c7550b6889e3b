import type { OutcomeEntry } from '@reroll/core/history/entries';
import type { Outcome } from '@reroll/core/history/join';
import type { SourceName } from '@reroll/core/state/rows';

/**
 * Whether a workload was recorded although its pods may have older data, and nothing has shown since that they were replaced, as far
 * as its history goes. `source`: data of this one.
 */
export function isStale(outcomes: readonly Outcome[], source?: SourceName): boolean {
  const told = outcomes.findLast(({ entry }) => staleAfter(entry, source) !== undefined);
  return told !== undefined && staleAfter(told.entry, source) === true;
}

/** Undefined: the outcome leaves it as it was. */
export function staleAfter(entry: OutcomeEntry, source?: SourceName): boolean | undefined {
  if (endsIt(entry)) return false;
  const isAdopted =
    source === undefined ? entry.reason === 'StaleAtAdoption' : entry.sources[source] === 'AdoptStale';
  return isAdopted ? true : undefined;
}

/** Whether all pods are new: Reroll or the owner replaced them, or the workload was created again. */
function endsIt({ state, reason, sources, omitted }: OutcomeEntry): boolean {
  if (state !== 'recorded') return state === 'reloaded';
  const verdicts = Object.values(sources);
  const isNew = verdicts.length > 0 && omitted === undefined && verdicts.every((each) => each === 'Adopt');
  return reason === 'BroughtByOwner' || isNew;
}
