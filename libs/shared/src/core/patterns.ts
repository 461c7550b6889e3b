import { compiledPattern } from './compiled-pattern.ts';
import { splitList } from './go-text.ts';
import { PATTERN_LIMITS } from './pattern-cost.ts';

/** A pattern that cannot be used, and why. Both are cut where they are long. */
export interface PatternError {
  readonly pattern: string;
  readonly error: string;
}

export interface PatternMatch {
  /** The first pattern that matches. */
  readonly matched: string | undefined;
  /** Of the patterns before it; of all of them if none matches. */
  readonly errors: readonly PatternError[];
}

/** Without any of these a pattern can only mean itself, and needs no compiling. */
const SPECIAL = /[\\.+*?()|[\]{}^$]/;

const QUOTED_LENGTH = 200;

/**
 * Matches a name against a comma list of patterns in Go's RE2 syntax, each trimmed and anchored at both
 * ends; the first that matches wins. One that cannot be read is collected and passed over. A comma always
 * separates, so `x{1,2}` is two patterns.
 */
export function matchPatterns(list: string, name: string): PatternMatch {
  const errors: PatternError[] = [];
  let budget: number = PATTERN_LIMITS.listCost;
  let isOverBudget = false;
  for (const pattern of splitList(list)) {
    if (!SPECIAL.test(pattern)) {
      if (pattern === name) return { matched: pattern, errors };
    } else if (budget <= 0) {
      if (!isOverBudget) errors.push(overBudget(pattern));
      isOverBudget = true;
    } else {
      const compiled = compiledPattern(pattern);
      budget -= compiled.cost;
      if ('error' in compiled) errors.push({ pattern: cut(pattern), error: cut(compiled.error) });
      else if (compiled.matches(name)) return { matched: pattern, errors };
    }
  }
  return { matched: undefined, errors };
}

function overBudget(pattern: string): PatternError {
  const error = `expected patterns that cost at most ${PATTERN_LIMITS.listCost} together; from this one on only plain names are compared`;
  return { pattern: cut(pattern), error };
}

function cut(text: string): string {
  return text.length <= QUOTED_LENGTH ? text : `${text.slice(0, QUOTED_LENGTH)}…`;
}
