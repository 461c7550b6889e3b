/**
 * The work that objects of tenants cause, counted since the process began: what the bounds on CPU in
 * `docs/scaling.md` are in. For metrics, and for specs; nothing decides by it.
 */
export const work = {
  /** Characters of lists in annotations that were taken apart. */
  listCharacters: 0,
  /** Characters of applied records that were parsed. */
  recordCharacters: 0,
  /** Times the rules were asked about a workload and a source. */
  decisions: 0,
  /** Cost of the patterns that were compiled; see `pattern-cost.ts`. */
  compiledCost: 0,
  /** Cost of the patterns that a name was matched against, times the length of the name. */
  matchSteps: 0,
  /** Names of dependencies that were put into a row, or taken out of one, because of patterns. */
  dependencyNames: 0,
  /** Characters of pod templates that were hashed. */
  templateCharacters: 0,
};

export type Work = Readonly<typeof work>;

/** What `run` cost. It has to be synchronous. */
export function workOf(run: () => void): Work {
  const before = { ...work };
  run();
  const spent = { ...work };
  for (const key of Object.keys(before) as (keyof Work)[]) spent[key] -= before[key];
  return spent;
}
