/** A class such as `\pL` holds hundreds of character ranges, and each copy holds them again. */
const UNICODE_CLASS_COST = 300;

/** Limits for every installation. The limits of one workload are options (`annotation-limits.ts`). */
export const PATTERN_LIMITS = {
  /** Characters of one pattern. */
  length: 4_096,
  /** Cost of one pattern, and of all patterns in a list together. Compiling takes at most a tenth of a second. */
  cost: 10_000,
} as const;

/** The most that a pattern costs: beyond every limit, and a number that sums and products of costs stay finite with. */
const INFINITE = Number.MAX_SAFE_INTEGER;

/**
 * Returns an upper bound of the number of instructions that a pattern compiles to, without compiling it. A counted repetition
 * multiplies what it repeats, so a few bytes can stand for a million instructions. Matching takes at most this cost times the
 * length of the name. It is a finite number for every text.
 */
export function patternCost(pattern: string): number {
  // Within `\Q…\E` special characters have no meaning, and an empty quotation hides what a repetition applies to.
  const instructions = pattern.includes('\\Q') ? roughCost(pattern) : new Parser(pattern).cost();
  return Math.min(INFINITE, Math.ceil(instructions + parsingCost(pattern)));
}

const IGNORES_CASE = /\(\?[a-zA-Z-]*i/;
/** The last character with another case, and how many characters are compared with their other cases in the time of one unit. */
const LAST_FOLDED = 0x1_e943;
const FOLDED_PER_UNIT = 100;
const FOLDED_CLASS_COST = 1.5;
const CLASS_NAME_COST = 2;
const RANGE_END = /-(?=\\x\{(\w*)\}|\\x(..)|\\([0-7]{1,3})|\\?(.))/gsu;

/**
 * Returns what reading the pattern costs beyond its instructions, however often it is repeated. Without regard to case, the engine
 * looks up every single character of a range: 125,000 for `[C-𞥀]`. A range is taken to begin at the first letter, and every dash
 * for a range, so that no quotation or escape can hide one.
 */
function parsingCost(pattern: string): number {
  // The end of each such name is searched for in all of the rest.
  const names = CLASS_NAME_COST * [...pattern.matchAll(/\[:/g)].length;
  if (!IGNORES_CASE.test(pattern)) return names;
  const classes = [...pattern.matchAll(/\\w/gi)].length;
  const folded = [...pattern.matchAll(RANGE_END)].reduce((sum, end) => sum + foldedUpTo(end), 0);
  return names + FOLDED_CLASS_COST * classes + folded / FOLDED_PER_UNIT;
}

function foldedUpTo([, long, short, octal, plain = '']: RegExpExecArray): number {
  const hex = long ?? short;
  const last =
    hex === undefined
      ? octal === undefined
        ? (plain.codePointAt(0) ?? 0)
        : Number.parseInt(octal, 8)
      : Number.parseInt(hex, 16);
  return Math.max(0, Math.min(LAST_FOLDED, last || 0) - 64);
}

// A name in braces or colons ends at the first character that no name has, so that no part of a pattern is looked at twice.
// A count with a zero in front, as in `{007}`, is no repetition.
const TOKEN = /\\[pP](?:\{\^?\w*\}|.)|\\x\{\w*\}|\\.|\[\^?\]?|\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}|./gsu;
const CLASS_END = /\[:\^?\w*:\]|\\.|\]/gsu;

/** Reads a pattern once from left to right. Its result for an invalid pattern does not matter. */
class Parser {
  readonly #pattern: string;
  /** The costs of the open groups, outermost first. */
  readonly #open: number[] = [];
  #sum = 0;
  /** Cost of the last atom, to which a repetition applies. */
  #atom = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  cost(): number {
    const token = new RegExp(TOKEN);
    for (let found = token.exec(this.#pattern); found; found = token.exec(this.#pattern)) {
      const [text, least, comma, most] = found;
      if (text.startsWith('[')) token.lastIndex = this.#class(found.index, token.lastIndex);
      else if (least !== undefined) this.#repeat(timesOf(least, comma, most));
      else this.#one(text);
    }
    while (this.#open.length > 0) this.#close();
    return this.#sum;
  }

  #one(text: string): void {
    if (text === '(') this.#open.push(this.#take());
    else if (text === ')') this.#close();
    else if (text === '*' || text === '+' || text === '?') this.#sum += 2;
    else this.#add(/^\\[pP]/.test(text) ? UNICODE_CLASS_COST : 1);
  }

  #take(): number {
    const sum = this.#sum;
    this.#sum = 0;
    return sum;
  }

  /** Two instructions mark the start and the end of the group. */
  #close(): void {
    const outer = this.#open.pop() ?? 0;
    const group = this.#take() + 2;
    this.#sum = outer;
    this.#add(group);
  }

  #add(cost: number): void {
    this.#atom = cost;
    this.#sum += cost;
  }

  /** Each copy can be skipped, which is an instruction too. */
  #repeat(count: number): void {
    const copies = Math.min(INFINITE, Math.max(1, count) * (this.#atom + 1));
    this.#sum += copies - this.#atom;
    this.#atom = copies;
  }

  /** Counts one instruction and the ranges of the class. Returns where the class ends. */
  #class(from: number, first: number): number {
    const end = new RegExp(CLASS_END);
    end.lastIndex = first;
    let found = end.exec(this.#pattern);
    while (found && found[0] !== ']') found = end.exec(this.#pattern);
    const to = found ? end.lastIndex : this.#pattern.length;
    const text = this.#pattern.slice(from, to);
    this.#add(1 + text.length / 8 + UNICODE_CLASS_COST * [...text.matchAll(/\\p/gi)].length);
    return to;
  }
}

/** Finite, however many digits the count has. */
function timesOf(least: string, comma: string | undefined, most: string | undefined): number {
  return Math.min(INFINITE, Number(most || least) + (comma && !most ? 1 : 0));
}

const REPETITION = /\{(\d+)(?:(,)(\d*))?\}/g;

/** Assumes that every repetition applies to everything. */
function roughCost(pattern: string): number {
  let copies = 1;
  for (const [, least = '', comma, most] of pattern.matchAll(REPETITION)) {
    copies = Math.min(INFINITE, copies * Math.max(1, timesOf(least, comma, most)));
  }
  const unicodeClasses = [...pattern.matchAll(/\\p/gi)].length;
  return Math.min(INFINITE, (2 * pattern.length + UNICODE_CLASS_COST * unicodeClasses) * copies);
}
