/** The work that tenants' objects cause, counted since the process started. For metrics and specs only. */
export const work = {
  /** Characters of parsed lists in annotations. */
  listCharacters: 0,
  /** Characters of parsed applied records. */
  recordCharacters: 0,
  /** Evaluations of the rules for a workload and a source. */
  decisions: 0,
  /** Cost of compiled patterns; see `pattern-cost.ts`. */
  compiledCost: 0,
  /** Cost of the patterns that names were matched against, times the length of the name. */
  matchSteps: 0,
  /** Names of sources that were gone through to make rows anew, or to put them into the index of users or remove them from it. */
  dependencyNames: 0,
  /** Sources of workloads that were looked up one by one. */
  sourceLookups: 0,
  /** Characters of hashed pod templates. */
  templateCharacters: 0,
  /** Markers in pod templates that were hashed. */
  hashedMarkers: 0,
  /** Certificates that were parsed. */
  certificates: 0,
};

export type Work = Readonly<typeof work>;

/** Returns the work that `run` caused. `run` must be synchronous. */
export function workOf(run: () => void): Work {
  const before = { ...work };
  run();
  const spent = { ...work };
  for (const key of Object.keys(before) as (keyof Work)[]) spent[key] -= before[key];
  return spent;
}
