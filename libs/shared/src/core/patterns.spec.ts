import { array, assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { compiledPattern } from './compiled-pattern.ts';
import { matchPatterns } from './patterns.ts';

type Matches = Readonly<Record<string, readonly [pattern: string, name: string, matches: boolean]>>;

function matches(list: string, name: string): boolean {
  return matchPatterns(list, name).matched !== undefined;
}

function errorOf(pattern: string): string | undefined {
  return matchPatterns(pattern, 'x').errors[0]?.error;
}

describe('patterns are those of Go', () => {
  const cases: Matches = {
    '$ is the end of the text, not before a last line break': ['a(b)?', 'a\n', false],
    '$ in a multi-line pattern is the end of any line': ['(?m)a', 'a\nb', true],
    '^ is the start of the text, not of a line': ['b(c)?', 'a\nb', false],
    '. is not a line break': ['a.', 'a\n', false],
    '. is a line break under (?s)': ['(?s)a.', 'a\n', true],
    '(?i) ignores case': ['(?i)APP', 'app', true],
    '(?i) does so for what is after it': ['a(?i)B', 'Ab', false],
    '(?i) folds as Unicode does: the long s is an s': ['(?i)s', 'ſ', true],
    '\\d is a digit': ['x\\d', 'x1', true],
    '\\d is no digit of another script': ['x\\d', 'x٣', false],
    '\\w has the underscore': ['\\w', '_', true],
    '\\w has no letter beyond ASCII': ['\\w', 'é', false],
    '\\s is white space': ['a\\sb', 'a b', true],
    '\\s is no vertical tab': ['a\\sb', 'a\vb', false],
    '\\b is a word boundary': ['app\\b.*', 'app-config', true],
    '\\A and \\z are the ends of the text': ['\\Aapp\\z', 'app', true],
    '\\pL is a letter': ['\\pL+', 'é', true],
    '\\p{Greek} is a script': ['\\p{Greek}', 'Ω', true],
    '\\P is the contrary of \\p': ['\\PL', '1', true],
    'a POSIX class': ['[[:alpha:]]+', 'app', true],
    'a negated POSIX class': ['[[:^digit:]]', 'a', true],
    '\\Q to \\E is literal': ['\\Qa.b\\E', 'axb', false],
    '\\x61 is a character': ['\\x61', 'a', true],
    'a brace that is no repetition is a brace': ['a{', 'a{', true],
    'a counted repetition': ['a{3}', 'aaa', true],
    'a lazy repetition': ['a+?b', 'aaab', true],
    'a named group, as Python writes it': ['(?P<n>a)', 'a', true],
    'a named group, as others write it': ['(?<n>a)', 'a', true],
    'a pattern with its own anchors': ['^app$', 'app', true],
  };

  it.each(Object.entries(cases))('%s', (_, [pattern, name, expected]) => {
    expect(matches(pattern, name)).toBe(expected);
    expect(errorOf(pattern)).toBeUndefined();
  });

  it('a group may not have two names alike', () => {
    expect(errorOf('(?P<n>a)(?P<n>b)')).toMatch(/duplicate capture group name/);
  });

  const unreadable = {
    'a class without an end': ['[', 'missing closing ]: `[$`'],
    'a group without an end': ['(a', 'missing closing ): `^(a$`'],
    'a group without a start': ['a)(b', 'unexpected ): `^a)(b$`'],
    'a repetition twice': ['a**', 'invalid nested repetition operator: `**`'],
    'a repetition over 1000': ['a{1001}', 'invalid repeat count: `{1001}`'],
    'a range backwards': ['[b-a]', 'invalid character class range: `b-a`'],
    'an unknown escape': ['\\Z', 'invalid escape sequence: `\\Z`'],
    'a back-reference': ['(a)\\1', 'invalid escape sequence: `\\1`'],
    'looking ahead': ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    'looking behind': ['(?<!a)b', 'invalid named capture: `(?<!a)b$`'],
    'a possessive repetition': ['a++', 'invalid nested repetition operator: `++`'],
  };

  it.each(Object.entries(unreadable))('%s cannot be read', (_, [pattern = '', error]) => {
    const message = errorOf(pattern);
    expect(message).toMatch(/^error parsing regexp: /);
    if (!pattern.startsWith('(?')) expect(message).toBe(`error parsing regexp: ${error}`);
  });

  it('one thousand repetitions are accepted, as in Go', () => {
    expect(errorOf('a{1000}')).toBeUndefined();
  });
});

describe('a comma list of patterns', () => {
  it.each([
    ['space', ' app '],
    ['tab and line break', '\tapp\r\n'],
    ['next line', '\u0085app\u0085'],
    ['no-break space', '\u00a0app\u00a0'],
    ['ideographic space', '\u3000app\u3000'],
  ])('is trimmed of what Go calls space: %s', (_, list) => {
    expect(matches(list, 'app')).toBe(true);
  });

  it('is not trimmed of what only JavaScript calls space: a byte order mark', () => {
    expect(matches('\ufeffapp', 'app')).toBe(false);
  });

  it('has one empty pattern if it is empty, which matches only the empty name', () => {
    expect(matches('', '')).toBe(true);
    expect(matches('', 'a')).toBe(false);
  });

  it('gives the first pattern that matches', () => {
    expect(matchPatterns('b, a.*, app', 'app').matched).toBe('a.*');
  });

  it('gives the same answer for a plain name as for the pattern that it is', () => {
    const letters = constantFrom('a', 'b', '-', 'A', '_', '/', ' ', '0', '\n', 'é', '😀', '#', '~');
    const text = array(letters, { maxLength: 4 }).map((all) => all.join(''));
    assert(
      property(text, text, (plain, name) => {
        const pattern = compiledPattern(plain.trim());
        expect('matches' in pattern && pattern.matches(name)).toBe(matches(plain, name));
      }),
    );
  });
});

describe('patterns that cost too much', () => {
  const name = 'a'.repeat(253);

  it('a pattern may have 4096 characters and not one more', () => {
    expect(errorOf(`${'a'.repeat(4_095)}.`)).toBeUndefined();
    expect(errorOf(`${'a'.repeat(4_096)}.`)).toBe(
      'expected a pattern of at most 4096 characters, given 4097',
    );
  });

  const refused = {
    'many repetitions side by side': '.{1000}'.repeat(2),
    'a long group, repeated': `(${'a?'.repeat(100)}){100}`,
    'nested repetitions over 1000 together, which Go refuses too': '((a{10}){11}){10}',
    'groups in groups': '((((a{9}){9}){9}){9}){9}',
    'a group behind an empty quotation': `(${'a?'.repeat(100)})\\Q\\E{100}`,
    'groups in groups, each behind an empty quotation': `((((a)\\Q\\E{9})\\Q\\E{9})\\Q\\E{9})\\Q\\E{9}`,
    'a class of a whole alphabet': '\\pL{100}',
    'a count beyond all numbers': `(aa){${'9'.repeat(400)}}`,
  };

  it.each(Object.entries(refused))('%s is refused', (_, pattern) => {
    expect(errorOf(pattern)).toMatch(/^expected a pattern that costs at most 10000, given one that costs /);
  });

  const accepted = {
    'a UUID': '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
    'a name with a hash': '([a-z0-9]+-){3}[0-9a-f]{10}',
    'the longest name': '[a-z0-9.-]{253}',
    'letters of any script': '\\pL{5}-\\pN+',
    'a hundred names in one group': `(${Array.from({ length: 100 }, (_, index) => `application-${index}`).join('|')})`,
  };

  it.each(Object.entries(accepted))('%s is not', (_, pattern) => {
    expect(errorOf(pattern)).toBeUndefined();
  });

  it('a long pattern is cut where it is reported', () => {
    const [error] = matchPatterns(`[${'a'.repeat(1_000)}`, 'x').errors;
    expect(error?.pattern).toHaveLength(201);
    expect(error?.error.length).toBeLessThanOrEqual(201);
  });

  it('patterns beyond the cost of a list are reported once, and plain names behind them still count', () => {
    const list = [...Array.from({ length: 5_000 }, (_, index) => `a{${index % 9}}b`), 'app'].join(',');
    const { matched, errors } = matchPatterns(list, 'app');
    expect(matched).toBe('app');
    expect(errors).toHaveLength(1);
    expect(errors[0]?.error).toMatch(/^expected patterns that cost at most 20000 together/);
  });

  const backtracking = {
    'nested repetitions': '(a+)+b',
    'alternatives that overlap': '(a|a)*b',
    'repetitions side by side': `${'a*'.repeat(100)}b`,
    'optional characters': `${'a?'.repeat(253)}b`,
    'the dearest that is accepted': '(?:a?a?){700}b',
  };

  it.each(Object.entries(backtracking))('%s take no time that grows out of hand', (_, pattern) => {
    const started = performance.now();
    expect(matches(pattern, name)).toBe(false);
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  it('an annotation as large as Kubernetes allows is read in time', () => {
    const started = performance.now();
    matchPatterns('a*,'.repeat(87_000), 'xxx');
    matchPatterns('(,'.repeat(131_000), 'xxx');
    matchPatterns(Array.from({ length: 30_000 }, (_, index) => `.${index}.`).join(','), 'xxx');
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  it('no list of patterns throws', () => {
    const piece = constantFrom(
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '9',
      ',',
      '|',
      '*',
      '+',
      '?',
      '\\',
      '^',
      '$',
      '(?',
      'P<',
      ':',
    );
    assert(
      property(array(piece, { maxLength: 40 }), string({ unit: 'binary' }), (pieces, any) => {
        expect(() => matchPatterns(pieces.join(''), any)).not.toThrow();
        expect(() => matchPatterns(any, pieces.join(''))).not.toThrow();
      }),
      { numRuns: 2_000 },
    );
  }, 60_000);
});

describe('the cache of compiled patterns', () => {
  it('gives the same pattern again', () => {
    expect(compiledPattern('cache-.*')).toBe(compiledPattern('cache-.*'));
  });

  it('forgets the pattern that was not asked for longest', () => {
    const first = compiledPattern('first-.*');
    for (let index = 0; index < 5_000; index += 1) compiledPattern(`other-${index}-.*`);
    expect(compiledPattern('first-.*')).not.toBe(first);
  });

  it('keeps a pattern that is asked for all the time', () => {
    const first = compiledPattern('hot-.*');
    for (let index = 0; index < 5_000; index += 1) {
      compiledPattern(`cold-${index}-.*`);
      compiledPattern('hot-.*');
    }
    expect(compiledPattern('hot-.*')).toBe(first);
  });

  it('does not keep what is dear', () => {
    expect(compiledPattern('a{900}')).not.toBe(compiledPattern('a{900}'));
  });
});
