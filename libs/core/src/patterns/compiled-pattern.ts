import { RE2JS } from 're2js';

import { patternCost, PATTERN_LIMITS } from './pattern-cost.ts';
import { WeightedCache } from './weighted-cache.ts';
import { work } from '../work.ts';

/** A pattern that is ready to match, or why it never will. */
export type CompiledPattern =
  | { readonly cost: number; matches(name: string): boolean }
  | { readonly cost: number; readonly error: string };

/** Heap of all compiled patterns together, in bytes: 5,000 ordinary ones. What is not kept is compiled each time. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** Measured: what an instruction takes, and what any pattern takes. */
const INSTRUCTION_BYTES = 200;
const PATTERN_BYTES = 6_000;

const cache = new WeightedCache<CompiledPattern>(CACHE_BYTES, (compiled, pattern) =>
  'error' in compiled
    ? PATTERN_BYTES
    : PATTERN_BYTES + 2 * pattern.length + INSTRUCTION_BYTES * compiled.cost,
);

/**
 * A pattern in Go's RE2 syntax, compiled as `^` + pattern + `$` with no group around it, so that `a|b` means
 * `^a` or `b$`, as it does for stakater/Reloader. Matching takes at most its cost times the length of the name. Who
 * asks for the same pattern shares it.
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
  if (cost > PATTERN_LIMITS.cost) {
    const error = `expected a pattern that costs at most ${PATTERN_LIMITS.cost}, given one that costs ${cost}: it repeats too much`;
    return { cost: length, error };
  }
  work.compiledCost += cost;
  try {
    return ready(RE2JS.compile(`^${pattern}$`), cost);
  } catch (error) {
    return { cost, error: error instanceof Error ? error.message : String(error) };
  }
}

/** `find` and not `test`: that builds an automaton of up to eight megabytes for each pattern, and is no faster at worst. */
function ready(expression: RE2JS, cost: number): CompiledPattern {
  return {
    cost,
    matches: (name) => {
      work.matchSteps += cost * (name.length + 1);
      return expression.matcher(name).find();
    },
  };
}
