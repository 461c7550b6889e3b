/**
 * What a pattern may cost, so that no tenant's annotation can keep a worker busy: a counted repetition
 * multiplies what it repeats, so a few bytes can stand for a program of a million instructions.
 *
 * The unit is about one instruction of the compiled program. At these limits a pattern takes tens of
 * milliseconds to compile and a few hundred to match, at worst; a usual one costs its length.
 */
export const PATTERN_LIMITS = {
  /** Characters of one pattern. */
  length: 4_096,
  /** Cost of one pattern. */
  cost: 10_000,
  /** Cost of all patterns of one annotation together. Plain names cost nothing. */
  listCost: 20_000,
} as const;

/** A class such as `\pL` holds hundreds of ranges of characters, and each copy holds them again. */
const UNICODE_CLASS_WEIGHT = 300;

const REPETITION = /(.?)\{(\d+)(?:(,)(\d*))?\}/gsu;

/**
 * An upper bound of a pattern's cost, found without parsing it. A repeated group may hold others, so their
 * counts are multiplied; what is repeated and is no group holds none, so those counts are added.
 */
export function patternCost(pattern: string): number {
  let copies = 1;
  let groups = 1;
  // After `\Q\E` a repetition applies to what is before it, which may be a group.
  const anyIsGroup = pattern.includes('\\Q');
  for (const [, before, least = '', comma, most] of pattern.matchAll(REPETITION)) {
    const count = Number(most || least) + (comma && !most ? 1 : 0);
    if (anyIsGroup || before === ')') groups *= Math.max(1, count);
    else copies += count;
  }
  const unicodeClasses = [...pattern.matchAll(/\\p/gi)].length;
  return (pattern.length + UNICODE_CLASS_WEIGHT * unicodeClasses) * copies * groups;
}
