import { compiledPattern } from './compiled-pattern.ts';
import { splitList } from '../go-text.ts';
import { patternCost, PATTERN_LIMITS } from './pattern-cost.ts';
import { isPlain, simplePattern } from './simple-pattern.ts';
import { WeightedCache } from './weighted-cache.ts';
import { work } from '../work.ts';

/** An unusable pattern, and why. Long texts are cut. */
export interface PatternError {
  readonly pattern: string;
  readonly error: string;
}

export interface PatternMatch {
  /** The entry that equals the name, or the first pattern that matches. */
  readonly matched: string | undefined;
  /**
   * Errors of the entries before the first match. stakater/Reloader logs the same ones, because it reads the list from its start.
   */
  readonly errors: readonly PatternError[];
}

/** A parsed comma-separated list of an annotation. */
export interface NameList {
  /** How many entries it has, with repetitions. */
  readonly count: number;
  /** Each entry once. */
  readonly words: ReadonlySet<string>;
  /** Cost of its patterns together. A plain name costs 0, a simple pattern 1. */
  readonly cost: number;
  /** The words that can match other names than themselves, in order. */
  readonly patterns: readonly Pattern[];
}

interface Pattern {
  readonly text: string;
  /** Its positions in the list: more than one if it is repeated. */
  readonly places: readonly number[];
  /** Undefined: it needs a regular expression. */
  readonly simple: ((name: string) => boolean) | undefined;
  /** It follows more patterns than a list may have, and is not compared. */
  readonly isBeyond: boolean;
}

/** Without any of these characters, a pattern matches only itself and is not compiled. */
const SPECIAL = /[\\.+*?()|[\]{}^$]/;

const QUOTED_LENGTH = 200;

const NO_ERRORS: readonly PatternError[] = [];
const NO_MATCH: PatternMatch = { matched: undefined, errors: NO_ERRORS };

/** Heap of all cached lists in bytes, estimated. Others are parsed for each use. */
const CACHE_BYTES = 16 * 1024 * 1024;
const LIST_BYTES = 400;
const WORD_BYTES = 120;
const PATTERN_BYTES = 200;

const cache = new WeightedCache<NameList>(
  CACHE_BYTES,
  (list, text) =>
    LIST_BYTES + 2 * text.length + WORD_BYTES * list.words.size + PATTERN_BYTES * list.patterns.length,
);

/** Parses a comma-separated list. Callers with the same text share the result. */
export function nameList(text: string): NameList {
  return cache.get(text, parse);
}

/**
 * Matches a name against a comma-separated list of patterns in Go's RE2 syntax, each trimmed and anchored at both ends. Invalid
 * patterns are collected and skipped. A comma always separates, so `x{1,2}` is two patterns. A literal name is found at once;
 * otherwise matching takes the cost of the patterns.
 */
export function matchPatterns(text: string, name: string): PatternMatch {
  const list = nameList(text);
  if (!meansItself(name) || !list.words.has(name)) return firstPattern(list, name);
  if (!hasErrors(list)) return { matched: name, errors: NO_ERRORS };
  const { errors } = firstPattern(list, name, splitList(text).indexOf(name));
  return { matched: name, errors };
}

/** Returns the errors of the list's unusable patterns. */
export function patternErrors(text: string): readonly PatternError[] {
  return nameList(text).patterns.flatMap((pattern) => errorOf(pattern) ?? []);
}

/** Whether the word, as a pattern, matches the identical name. */
function meansItself(word: string): boolean {
  return isPlain(word) || !SPECIAL.test(word);
}

function hasErrors({ patterns }: NameList): boolean {
  return patterns.some((pattern) => errorOf(pattern) !== undefined);
}

/** Returns the first match before `end`. */
function firstPattern({ patterns }: NameList, name: string, end = Number.POSITIVE_INFINITY): PatternMatch {
  if (patterns.length === 0) return NO_MATCH;
  const found: (readonly [Pattern, PatternError])[] = [];
  const isSimple = isPlain(name);
  for (const pattern of patterns) {
    const [place = 0] = pattern.places;
    if (place >= end) break;
    const error = errorOf(pattern);
    if (error) found.push([pattern, error]);
    else if (matches(pattern, name, isSimple)) return { matched: pattern.text, errors: upTo(place, found) };
  }
  return { matched: undefined, errors: upTo(end, found) };
}

/** Returns an error for each position of such a pattern before `end`. */
function upTo(end: number, found: readonly (readonly [Pattern, PatternError])[]): readonly PatternError[] {
  if (found.length === 0) return NO_ERRORS;
  return found.flatMap(([{ places }, error]) => places.filter((place) => place < end).map(() => error));
}

function matches({ text, simple }: Pattern, name: string, isSimple: boolean): boolean {
  if (simple && isSimple) {
    work.matchSteps += name.length + 1;
    return simple(name);
  }
  const compiled = compiledPattern(text);
  return 'matches' in compiled && compiled.matches(name);
}

function errorOf({ text, simple, isBeyond }: Pattern): PatternError | undefined {
  if (simple) return undefined;
  if (isBeyond) return overBudget(text);
  const compiled = compiledPattern(text);
  return 'error' in compiled ? { pattern: cut(text), error: cut(compiled.error) } : undefined;
}

function parse(text: string): NameList {
  const all = splitList(text);
  const places = placesOf(all);
  const patterns: Pattern[] = [];
  let cost = 0;
  let isTold = false;
  for (const [word, itsPlaces] of places) {
    if (!SPECIAL.test(word)) continue;
    const simple = word.length > PATTERN_LIMITS.length ? undefined : simplePattern(word);
    const isBeyond = !simple && !(cost <= PATTERN_LIMITS.cost);
    if (!isBeyond || !isTold) patterns.push({ text: word, places: itsPlaces, simple, isBeyond });
    isTold ||= isBeyond;
    cost += simple ? 1 : costOf(word);
  }
  return { count: all.length, words: new Set(all), cost, patterns };
}

function placesOf(words: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [place, word] of words.entries()) {
    const before = places.get(word);
    if (before) before.push(place);
    else places.set(word, [place]);
  }
  return places;
}

/** A pattern that is too long is never compiled. */
function costOf(pattern: string): number {
  return pattern.length > PATTERN_LIMITS.length ? pattern.length : patternCost(pattern);
}

function overBudget(pattern: string): PatternError {
  const error = `expected patterns that cost at most ${PATTERN_LIMITS.cost} together; from this one on only plain names are compared`;
  return { pattern: cut(pattern), error };
}

function cut(text: string): string {
  return text.length <= QUOTED_LENGTH ? text : `${text.slice(0, QUOTED_LENGTH)}…`;
}
