import {
  array,
  assert,
  constantFrom,
  letrec,
  oneof,
  pre,
  property,
  string,
  tuple,
  type Arbitrary,
} from 'fast-check';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { describe, expect, it, vi } from 'vitest';

import { compiledPattern } from './compiled-pattern.ts';
import { trimSpace } from '../go-text.ts';
import { PATTERN_LIMITS, patternCost } from './pattern-cost.ts';
import { matchPatterns, nameList } from './patterns.ts';
import { workOf } from '../work.ts';

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
    expect(matchPatterns('b, a.*, (app)', 'app').matched).toBe('a.*');
  });

  it('gives the name itself if it is spelt out, wherever that is', () => {
    expect(matchPatterns('b, a.*, app', 'app').matched).toBe('app');
    expect(matchPatterns('a.*, kube-root-ca.crt', 'kube-root-ca.crt').matched).toBe('kube-root-ca.crt');
  });

  it('gives no pattern that is spelt like the name and does not match it', () => {
    expect(matchPatterns('a+', 'a+').matched).toBeUndefined();
  });

  it('gives the same answer for a simple pattern as for the regular expression that it is', () => {
    const letters = constantFrom('a', 'b', '-', '.', '.*', '1', '\n', 'é', '😀', 'B');
    const text = array(letters, { maxLength: 6 }).map((all) => all.join(''));
    assert(
      property(text, text, (pattern, name) => {
        const compiled = compiledPattern(trimSpace(pattern));
        expect(matches(pattern, name)).toBe('matches' in compiled && compiled.matches(name));
      }),
      { numRuns: 1_000 },
    );
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
    'many repetitions side by side': '.{1000}'.repeat(6),
    'a long group, repeated': `(${'a?'.repeat(100)}){100}`,
    'groups in groups': '((((a{9}){9}){9}){9}){9}',
    'a group behind an empty quotation': `(${'a?'.repeat(100)})\\Q\\E{100}`,
    'groups in groups, each behind an empty quotation': `((((a)\\Q\\E{9})\\Q\\E{9})\\Q\\E{9})\\Q\\E{9}`,
    'a class of a whole alphabet': '\\pL{100}',
    'wide ranges without regard to case': `(?i)[${'C-𞥀'.repeat(10)}]`,
    'the same in a group': `(?mi:${'[C-𞥀]'.repeat(10)})`,
    'the same behind an empty quotation': `(?i)\\Q\\E[${'C-𞥀'.repeat(10)}]`,
    'the same from a dash': `(?i)[${'--𞥀'.repeat(10)}]`,
    'the same by numbers': `(?i)[${'C-\\x{1e940}'.repeat(10)}]`,
    'a count beyond all numbers': `(aa){${'9'.repeat(400)}}`,
  };

  it.each(Object.entries(refused))('%s is refused', (_, pattern) => {
    expect(errorOf(pattern)).toMatch(/^expected a pattern that costs at most 10000, given one that costs /);
  });

  const accepted = {
    'a UUID': '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
    'a name with a hash': '([a-z0-9]+-){3}[0-9a-f]{10}',
    'the longest name': '[a-z0-9.-]{253}',
    'the longest name in any case': '(?i)[a-z0-9.-]{253}',
    'one wide range in any case': '(?i)[C-𞥀]+',
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
    const list = [...Array.from({ length: 5_000 }, (_, index) => `a{${index % 9}}b${index}`), 'app'].join(
      ',',
    );
    expect(matchPatterns(list, 'app').matched).toBe('app');
    const { errors } = matchPatterns(list, 'x');
    expect(errors).toHaveLength(1);
    expect(errors[0]?.error).toMatch(/^expected patterns that cost at most 10000 together/);
  });

  const backtracking = {
    'nested repetitions': '(a+)+b',
    'alternatives that overlap': '(a|a)*b',
    'repetitions side by side': `${'a*'.repeat(100)}b`,
    'optional characters': `${'a?'.repeat(253)}b`,
    'the dearest that is accepted': '(?:a?a?){700}b',
  };

  it.each(Object.entries(backtracking))(
    '%s come to an end, as with backtracking they would not',
    (_, pattern) => {
      expect(matches(pattern, name)).toBe(false);
    },
  );

  it.each([
    ['one pattern, over and over', 'a*,'.repeat(87_000)],
    ['groups without an end', '(,'.repeat(131_000)],
    ['patterns that are all different', Array.from({ length: 30_000 }, (_, at) => `.+${at}.`).join(',')],
    ['names', Array.from({ length: 40_000 }, (_, at) => `x${at}`).join(',')],
    ['one pattern without a comma', 'a{9}'.repeat(65_000)],
  ])('an annotation as large as Kubernetes allows is read once: %s', (_, list) => {
    const spent = workOf(() => matchPatterns(list, name));
    expect(spent.listCharacters).toBe(list.length + 1);
    expect(spent.compiledCost).toBeLessThanOrEqual(2 * PATTERN_LIMITS.cost);
    expect(spent.matchSteps).toBeLessThanOrEqual(2 * PATTERN_LIMITS.cost * (name.length + 1));
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
      { numRuns: 1_000 },
    );
  }, 60_000);
});

describe('the cost of a pattern', () => {
  const piece: Arbitrary<string> = letrec<{ any: string }>((tie) => {
    const atom = constantFrom(
      'a',
      '.',
      '[ab]',
      '[^a-z0-9]',
      '\\d',
      '\\.',
      '\\pL',
      '[[:alpha:]]',
      '[]a]',
      '^',
    );
    const count = constantFrom('', '', '*', '+', '?', '{3}', '{0,7}', '{2,}', '{40}', '*?');
    return {
      any: oneof(
        { maxDepth: 4 },
        tuple(atom, count).map((parts) => parts.join('')),
        tuple(tie('any'), tie('any')).map((parts) => parts.join('')),
        tuple(tie('any'), tie('any')).map((parts) => parts.join('|')),
        tuple(constantFrom('(', '(?:', '(?i:', '(?P<n>'), tie('any'), count).map(
          ([open, each, times]) => `${open}${each})${times}`,
        ),
      ),
    };
  }).any;

  it('is no less than the number of instructions that it is compiled to, some fixed ones apart', () => {
    assert(
      property(piece, (pattern) => {
        const cost = patternCost(pattern);
        pre(cost <= PATTERN_LIMITS.cost);
        try {
          expect(RE2JS.compile(`^${pattern}$`).programSize()).toBeLessThanOrEqual(cost + 6);
        } catch (error) {
          expect(error).toBeInstanceOf(RE2JSSyntaxException);
        }
      }),
      { numRuns: 1_500 },
    );
  }, 60_000);
});

describe('the cost of a pattern without regard to case', () => {
  it.each([
    ['app-[a-z0-9-]+', 15],
    ['app-web-1', 11],
    ['app-\\d+-\\w+', 16],
    ['[a-z]{20}', 55],
    ['app-[\\x61-\\x7a]+', 14],
    ['\\Qapp-web\\E', 28],
  ])('is little more for %s', (pattern, most) => {
    expect(patternCost(`(?i)${pattern}`) - 4).toBeLessThanOrEqual(most);
  });

  it.each([
    ['[C-𞥀]', 1_250],
    ['[A-ÿ]', 1.9],
    ['[\\x41-\\xff]', 1.9],
    ['[A-\\377]', 1.9],
    ['\\w', 1.5],
  ])('%s costs what its single characters cost, once', (text, least) => {
    expect(patternCost(`(?i)${text}`) - patternCost(`(?s)${text}`)).toBeGreaterThanOrEqual(Math.floor(least));
    const times = `(?i)${text.repeat(100)}`;
    expect(patternCost(times) - patternCost(times.replace('i', 's'))).toBeGreaterThanOrEqual(100 * least);
    const repeated = `(?i)${text}{100}`;
    expect(patternCost(repeated) - patternCost(repeated.replace('i', 's'))).toBeLessThanOrEqual(
      2 * least + 1,
    );
  });

  it('is that of each name of a class that has no end', () => {
    expect(patternCost(`[${'[:'.repeat(2_000)}`)).toBeGreaterThan(4_000);
  });
});

describe('a pattern of many optional characters', () => {
  it('is not searched for a form with one way through it', () => {
    const compile = vi.spyOn(RE2JS, 'compile');
    const letters = Array.from({ length: 490 }, (_, index) => `${String.fromCodePoint(0x4e00 + 2 * index)}?`);
    expect(matches(letters.join(''), '一丂')).toBe(true);
    const [made] = compile.mock.results;
    compile.mockRestore();
    expect(made?.value.re2()).toMatchObject({ onepass: null });
  });
});

describe('the cost of a pattern is a finite number', () => {
  const digits = '9'.repeat(400);

  it.each([
    ['a count that is no repetition, repeated', `a{0${digits}}{2}`],
    ['a count beyond all numbers, repeated', `(a{${digits}}){${digits}}`],
    ['the same twice', `a{${digits}}{${digits}}`],
    ['with an empty quotation', `\\Q\\Ea{0${digits}}{${digits},}{0}`],
    ['groups in groups', `${'('.repeat(500)}a${'){1000}'.repeat(500)}`],
    ['many of them', '(a{1000}){1000}{1000}{1000}{1000}{1000}'.repeat(100)],
  ])('%s', (_, pattern) => {
    expect(Number.isFinite(patternCost(pattern))).toBe(true);
    expect(Number.isFinite(patternCost(`${pattern}|(b?){999}`))).toBe(true);
  });

  it('for any text of braces, digits and groups', () => {
    const any = constantFrom('a', '(', ')', '{', '}', '0', '9', digits, ',', '[', ']', '\\', 'Q', '*');
    assert(
      property(array(any, { maxLength: 40 }), (pieces) => {
        const cost = patternCost(pieces.join(''));
        expect(cost).toBeGreaterThanOrEqual(0);
        expect(Number.isFinite(cost)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  it('braces with a zero in front are text, of one instruction a character', () => {
    const braces = `a{${'0'.repeat(1_000)}}`;
    expect(matches(braces, braces)).toBe(true);
    expect(patternCost(braces)).toBe(braces.length);
    expect(patternCost('a{1,02}')).toBe(7);
    expect(patternCost('a{0,2}')).toBe(4);
  });
});

describe('the cost of a pattern of many beginnings', () => {
  it.each(['[[:', '[:', '\\p{', '\\x{', '('])(
    'such as %j takes no time for the square of its length',
    (piece) => {
      expect(patternCost(`[${piece.repeat(200_000)}`)).toBeGreaterThan(0);
      expect(patternCost(piece.repeat(200_000))).toBeGreaterThan(0);
    },
  );
});

describe('a list', () => {
  it('is read once for all who have it', () => {
    const list = 'read-once-.*,a+b';
    const spent = workOf(() => {
      for (const name of ['a', 'b', 'aab', 'read-once-1']) matchPatterns(list, name);
    });
    expect(spent.listCharacters).toBe(list.length + 1);
    expect(spent.compiledCost).toBe(patternCost('a+b'));
  });

  it('costs nothing for plain names, and for a simple pattern 1', () => {
    expect(nameList('app,web-1,A').cost).toBe(0);
    expect(nameList('kube-root-ca.crt,app-.*,.*').cost).toBe(3);
  });
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

  it('keeps what is dear too', () => {
    expect(compiledPattern('a{900}')).toBe(compiledPattern('a{900}'));
  });
});
