import { RE2JS } from 're2js';

import { patternCost, PATTERN_LIMITS } from './pattern-cost.ts';
import { WeightedCache } from './weighted-cache.ts';
import { work } from '../work.ts';

/** A compiled pattern, or why it is unusable. */
export type CompiledPattern =
  | { readonly cost: number; matches(name: string): boolean }
  | { readonly cost: number; readonly error: string };

/** Heap of all cached patterns in bytes, enough for 5,000 ordinary ones. Others are compiled for each use. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** Measured: bytes for each instruction and for each pattern. */
const INSTRUCTION_BYTES = 200;
const PATTERN_BYTES = 6_000;

const cache = new WeightedCache<CompiledPattern>(CACHE_BYTES, (compiled, pattern) =>
  'error' in compiled
    ? PATTERN_BYTES
    : PATTERN_BYTES + 2 * pattern.length + INSTRUCTION_BYTES * compiled.cost,
);

/**
 * The empty group keeps the engine from looking for a form of the pattern with one way through it, which takes time for the cube
 * of the number of optional characters: a second for 500. Errors do not show it.
 */
const START = '()^';

/**
 * Compiles a pattern in Go's RE2 syntax as `^` + pattern + `$` without a group, so that `a|b` means `^a` or `b$`, as in
 * stakater/Reloader. Matching takes at most its cost times the length of the name. Callers share the result.
 */
export function compiledPattern(pattern: string): CompiledPattern {
  return cache.get(pattern, compile);
}

function compile(pattern: string): CompiledPattern {
  const { length } = pattern;
  if (length > PATTERN_LIMITS.length) {
    const error = `expected a pattern of at most ${PATTERN_LIMITS.length} characters, given ${length}`;
    return { cost: length, error };
  }
  const cost = patternCost(pattern);
  if (!(cost <= PATTERN_LIMITS.cost)) {
    const error = `expected a pattern that costs at most ${PATTERN_LIMITS.cost}, given one that costs ${cost}: it repeats too much, or ignores case in too wide a range`;
    return { cost: length, error };
  }
  work.compiledCost += cost;
  try {
    return ready(RE2JS.compile(`${START}${pattern}$`), cost);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { cost, error: text.replace(`\`${START}`, '`^') };
  }
}

/** Uses `find` because `test` builds an automaton of up to eight megabytes for each pattern, and is no faster in the worst case. */
function ready(expression: RE2JS, cost: number): CompiledPattern {
  return {
    cost,
    matches: (name) => {
      work.matchSteps += cost * (name.length + 1);
      return expression.matcher(name).find();
    },
  };
}
