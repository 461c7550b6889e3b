import { LuaFault, type LuaValue } from './values.ts';

/** A match of a Lua pattern: positions count from 0, `end` is behind the last character. */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly captures: readonly Capture[];
}

interface Capture {
  start: number;
  /** -1 while it is open, -2 for a position capture `()`. */
  length: number;
}

const MAX_CAPTURES = 32;
const OPEN = -1;
const POSITION = -2;

/** Finds the first match at or after a position, with the rules of lstrlib.c of Lua 5.1. */
export function findMatch(text: string, pattern: string, from: number): Match | undefined {
  const isAnchored = pattern.startsWith('^');
  const matcher = new Matcher(text, pattern);
  for (let start = from; start <= text.length; start++) {
    const end = matcher.matchAt(start, isAnchored ? 1 : 0);
    if (end !== undefined) return { start, end, captures: matcher.takeCaptures() };
    if (isAnchored) return undefined;
  }
  return undefined;
}

/** The captures of a match as values; the whole match if it has none. */
export function capturesOf(text: string, { start, end, captures }: Match): LuaValue[] {
  if (captures.length === 0) return [text.slice(start, end)];
  return captures.map((capture) => {
    if (capture.length === POSITION) return capture.start + 1;
    if (capture.length === OPEN) throw new LuaFault('unfinished capture');
    return text.slice(capture.start, capture.start + capture.length);
  });
}

class Matcher {
  readonly #text: string;
  readonly #pattern: string;
  #captures: Capture[] = [];

  constructor(text: string, pattern: string) {
    this.#text = text;
    this.#pattern = pattern;
  }

  takeCaptures(): readonly Capture[] {
    return this.#captures;
  }

  matchAt(start: number, at: number): number | undefined {
    this.#captures = [];
    return this.#match(start, at);
  }

  /** Matches the pattern from `at` against the text from `s`; returns where the match ends. */
  #match(s: number, at: number): number | undefined {
    if (at >= this.#pattern.length) return s;
    switch (this.#pattern[at]) {
      case '(':
        return this.#pattern[at + 1] === ')' ? this.#open(s, at + 2, POSITION) : this.#open(s, at + 1, OPEN);
      case ')':
        return this.#close(s, at + 1);
      case '$':
        if (at + 1 === this.#pattern.length) return s === this.#text.length ? s : undefined;
        return this.#single(s, at);
      case '%':
        return this.#escape(s, at);
      default:
        return this.#single(s, at);
    }
  }

  #escape(s: number, at: number): number | undefined {
    const kind = this.#pattern[at + 1] ?? '';
    if (kind === 'b') return this.#balanced(s, at);
    if (kind === 'f') return this.#frontier(s, at + 2);
    if (kind >= '0' && kind <= '9') return this.#back(s, at);
    return this.#single(s, at);
  }

  #single(s: number, at: number): number | undefined {
    const end = this.#classEnd(at);
    switch (this.#pattern[end]) {
      case '?': {
        const taken = this.#isMatch(s, at, end) ? this.#match(s + 1, end + 1) : undefined;
        return taken ?? this.#match(s, end + 1);
      }
      case '*':
        return this.#most(s, at, end);
      case '+':
        return this.#isMatch(s, at, end) ? this.#most(s + 1, at, end) : undefined;
      case '-':
        return this.#least(s, at, end);
      default:
        return this.#isMatch(s, at, end) ? this.#match(s + 1, end) : undefined;
    }
  }

  // oxlint-disable-next-line max-params -- position, and begin and end of the class
  #most(s: number, at: number, end: number): number | undefined {
    let count = 0;
    while (this.#isMatch(s + count, at, end)) count++;
    for (; count >= 0; count--) {
      const found = this.#match(s + count, end + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #least(s: number, at: number, end: number): number | undefined {
    for (let from = s; ; from++) {
      const found = this.#match(from, end + 1);
      if (found !== undefined) return found;
      if (!this.#isMatch(from, at, end)) return undefined;
    }
  }

  #open(s: number, at: number, length: number): number | undefined {
    if (this.#captures.length >= MAX_CAPTURES) throw new LuaFault('too many captures');
    this.#captures.push({ start: s, length });
    const found = this.#match(s, at);
    if (found === undefined) this.#captures.pop();
    return found;
  }

  #close(s: number, at: number): number | undefined {
    const capture = this.#captures.findLast(({ length }) => length === OPEN);
    if (!capture) throw new LuaFault('invalid pattern capture');
    capture.length = s - capture.start;
    const found = this.#match(s, at);
    if (found === undefined) capture.length = OPEN;
    return found;
  }

  #balanced(s: number, at: number): number | undefined {
    const [open, close] = [this.#pattern[at + 2], this.#pattern[at + 3]];
    if (open === undefined || close === undefined) throw new LuaFault('unbalanced pattern');
    if (this.#text[s] !== open) return undefined;
    let depth = 1;
    for (let index = s + 1; index < this.#text.length; index++) {
      const char = this.#text[index];
      if (char === close) {
        depth--;
        if (depth === 0) return this.#match(index + 1, at + 4);
      } else if (char === open) depth++;
    }
    return undefined;
  }

  #frontier(s: number, at: number): number | undefined {
    if (this.#pattern[at] !== '[') throw new LuaFault("missing '[' after '%f' in pattern");
    const end = this.#classEnd(at);
    const before = s === 0 ? '\0' : (this.#text[s - 1] ?? '\0');
    const here = this.#text[s] ?? '\0';
    if (this.#isInSet(before, at, end - 1) || !this.#isInSet(here, at, end - 1)) return undefined;
    return this.#match(s, end);
  }

  #back(s: number, at: number): number | undefined {
    const capture = this.#captures[Number(this.#pattern[at + 1]) - 1];
    if (!capture || capture.length === OPEN) throw new LuaFault('invalid capture index');
    const text = this.#text.slice(capture.start, capture.start + Math.max(capture.length, 0));
    return this.#text.startsWith(text, s) ? this.#match(s + text.length, at + 2) : undefined;
  }

  /** Where the single-character class at `at` ends. */
  #classEnd(at: number): number {
    const pattern = this.#pattern;
    if (pattern[at] === '%') {
      if (at + 1 >= pattern.length) throw new LuaFault("malformed pattern (ends with '%')");
      return at + 2;
    }
    if (pattern[at] !== '[') return at + 1;
    let end = at + 1;
    if (pattern[end] === '^') end++;
    do {
      if (end >= pattern.length) throw new LuaFault("malformed pattern (missing ']')");
      end += pattern[end] === '%' ? 2 : 1;
    } while (pattern[end] !== ']');
    return end + 1;
  }

  #isMatch(s: number, at: number, end: number): boolean {
    const char = this.#text[s];
    if (char === undefined) return false;
    switch (this.#pattern[at]) {
      case '.':
        return true;
      case '%':
        return isInClass(char, this.#pattern[at + 1] ?? '');
      case '[':
        return this.#isInSet(char, at, end - 1);
      default:
        return this.#pattern[at] === char;
    }
  }

  /** `close`: where the closing bracket is. */
  #isInSet(char: string, open: number, close: number): boolean {
    const isNegated = this.#pattern[open + 1] === '^';
    let at = open + (isNegated ? 2 : 1);
    while (at < close) {
      const [isMatch, next] = this.#setItem(char, at, close);
      if (isMatch) return !isNegated;
      at = next;
    }
    return isNegated;
  }

  /** Whether the class, range or character at `at` has the character, and where the next one is. */
  #setItem(char: string, at: number, close: number): [boolean, number] {
    const pattern = this.#pattern;
    const from = pattern[at] ?? '';
    if (from === '%') return [isInClass(char, pattern[at + 1] ?? ''), at + 2];
    if (pattern[at + 1] === '-' && at + 2 < close)
      return [from <= char && char <= (pattern[at + 2] ?? ''), at + 3];
    return [from === char, at + 1];
  }
}

/** The classes of the C locale. */
const CLASSES: Readonly<Record<string, RegExp>> = {
  a: /[a-zA-Z]/,
  // oxlint-disable-next-line no-control-regex -- control characters
  c: /[\0-\x1f\x7f]/,
  d: /[0-9]/,
  l: /[a-z]/,
  p: /[!-/:-@[-`{-~]/,
  s: /[ \t-\r]/,
  u: /[A-Z]/,
  w: /[a-zA-Z0-9]/,
  x: /[0-9a-fA-F]/,
  z: /\0/,
};

function isInClass(char: string, name: string): boolean {
  const known = CLASSES[name.toLowerCase()];
  if (!known) return char === name;
  return known.test(char) === (name === name.toLowerCase());
}
