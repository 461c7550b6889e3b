/** A class such as `\pL` holds hundreds of ranges of characters, and each copy holds them again. */
const UNICODE_CLASS_COST = 300;

/** What holds for every installation; what a workload may have of patterns is an option (`annotation-limits.ts`). */
export const PATTERN_LIMITS = {
  /** Characters of one pattern. */
  length: 4_096,
  /** Cost of one pattern, and of all patterns of a list together. Takes a tenth of a second to compile, at worst. */
  cost: 10_000,
} as const;

/** What a pattern costs that is refused before it is compiled, and counts for more than any other. */
const INFINITE = Number.MAX_SAFE_INTEGER;

/**
 * What a pattern may cost: an upper bound of the number of instructions it is compiled to, found without compiling
 * it. A counted repetition multiplies what it repeats, so a few bytes can stand for a program of a million. To match
 * a name takes at most this times the length of the name.
 */
export function patternCost(pattern: string): number {
  // Between these the special characters are none, and an empty quotation hides what a repetition applies to.
  if (pattern.includes('\\Q')) return roughCost(pattern);
  return Math.min(INFINITE, Math.ceil(new Parser(pattern).cost()));
}

const TOKEN = /\\[pP](?:\{[^}]*\}|.)|\\x\{[^}]*\}|\\.|\[\^?\]?|\{(\d+)(?:(,)(\d*))?\}|./gsu;
const CLASS_END = /\[:[^\]]*:\]|\\.|\]/gsu;

/** Reads a pattern once from left to right. What it makes of one that cannot be compiled does not matter. */
class Parser {
  readonly #pattern: string;
  /** The costs of the groups that are open, outermost first. */
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
      else if (least !== undefined) this.#repeat(Number(most || least) + (comma && !most ? 1 : 0));
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

  /** Two instructions note where the group began and ended. */
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

  /** Each copy can be left out, which is an instruction too. */
  #repeat(count: number): void {
    const copies = Math.max(1, count) * (this.#atom + 1);
    this.#sum += copies - this.#atom;
    this.#atom = copies;
  }

  /** One instruction, and the ranges that it is to look through. Gives where it ends. */
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

const REPETITION = /\{(\d+)(?:(,)(\d*))?\}/g;

/** As if every repetition applied to everything. */
function roughCost(pattern: string): number {
  let copies = 1;
  for (const [, least = '', comma, most] of pattern.matchAll(REPETITION)) {
    copies *= Math.max(1, Number(most || least) + (comma && !most ? 1 : 0));
  }
  const unicodeClasses = [...pattern.matchAll(/\\p/gi)].length;
  return Math.min(INFINITE, (2 * pattern.length + UNICODE_CLASS_COST * unicodeClasses) * copies);
}
