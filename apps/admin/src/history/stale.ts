import type { OutcomeEntry } from '@reroll/core/history/entries';
import type { Outcome } from '@reroll/core/history/join';

/**
 * Whether a workload was recorded although its pods may have older data, and nothing has shown since that they were replaced, as far
 * as its history goes.
 */
export function isStale(outcomes: readonly Outcome[]): boolean {
  const told = outcomes.findLast(({ entry }) => staleAfter(entry) !== undefined);
  return told !== undefined && staleAfter(told.entry) === true;
}

/** Undefined: the outcome leaves it as it was. */
export function staleAfter(entry: OutcomeEntry): boolean | undefined {
  if (endsIt(entry)) return false;
  return entry.reason === 'StaleAtAdoption' ? true : undefined;
}

/** The sources of which its pods may have older data, by the same. */
export function staleSources(outcomes: readonly Outcome[]): ReadonlySet<string> {
  const stale = new Set<string>();
  for (const { entry } of outcomes.slice(outcomes.findLastIndex((each) => endsIt(each.entry)) + 1))
    for (const [name, verdict] of Object.entries(entry.sources))
      if (verdict === 'AdoptStale') stale.add(name);
  return stale;
}

/** Whether all pods are new: Reroll or the owner replaced them, or the workload was created again. */
function endsIt(entry: OutcomeEntry): boolean {
  if (entry.state !== 'recorded') return entry.state === 'reloaded';
  return entry.reason === 'BroughtByOwner' || isOfNew(entry);
}

/** Whether the workload had no applied record: it was created, maybe again. */
export function isOfNew({ state, sources, omitted }: OutcomeEntry): boolean {
  const verdicts = Object.values(sources);
  const isAdopted = verdicts.length > 0 && verdicts.every((each) => each === 'Adopt');
  return state === 'recorded' && isAdopted && omitted === undefined;
}
