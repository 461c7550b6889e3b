import { RE2JS } from 're2js';

import { patternCost, PATTERN_LIMITS } from './pattern-cost.ts';

/** A pattern that is ready to match, or why it never will. */
export type CompiledPattern =
  | { readonly cost: number; matches(name: string): boolean }
  | { readonly cost: number; readonly error: string };

/** Most of what the cache holds is cheap; a pattern dearer than this is compiled anew each time. */
const CACHED_PATTERN_COST = 2_000;
const CACHE_COST = 100_000;

/** Least recently used first. */
const cache = new Map<string, CompiledPattern>();
let cacheCost = 0;

/**
 * A pattern in Go's RE2 syntax, compiled as `^` + pattern + `$` with no group around it, so that `a|b` means
 * `^a` or `b$`, as it does for stakater/Reloader. Linear in the length of what it is matched against.
 */
export function compiledPattern(pattern: string): CompiledPattern {
  const known = cache.get(pattern);
  if (known) {
    cache.delete(pattern);
    cache.set(pattern, known);
    return known;
  }
  const compiled = compile(pattern);
  if (compiled.cost <= CACHED_PATTERN_COST) keep(pattern, compiled);
  return compiled;
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
  try {
    const expression = RE2JS.compile(`^${pattern}$`);
    return { cost, matches: (name) => expression.test(name) };
  } catch (error) {
    return { cost, error: error instanceof Error ? error.message : String(error) };
  }
}

function keep(pattern: string, compiled: CompiledPattern): void {
  cache.set(pattern, compiled);
  cacheCost += entryCost(compiled);
  for (const [oldest, entry] of cache) {
    if (cacheCost <= CACHE_COST) return;
    cache.delete(oldest);
    cacheCost -= entryCost(entry);
  }
}

/** No entry is free, or the cache would have no bound on their number. */
function entryCost({ cost }: CompiledPattern): number {
  return cost + 50;
}
