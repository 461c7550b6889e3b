import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { age, humanDuration, until } from './age.ts';
import { paintFor } from './color.ts';
import { jsonLine, jsonText, yamlText } from './document.ts';
import { safeIo } from './safe-io.ts';
import { safeText } from './safe-text.ts';
import { redrawing } from './redraw.ts';
import { facts, table, toned } from './table.ts';
import { tree } from './tree.ts';

const PLAIN = paintFor({ env: {} }, false);

describe('ages are those of kubectl', () => {
  it.each([
    [0, '0s'],
    [-5_000, '0s'],
    [119_000, '119s'],
    [120_000, '2m'],
    [200_000, '3m20s'],
    [599_000, '9m59s'],
    [600_000, '10m'],
    [10_740_000, '179m'],
    [3 * 3_600_000, '3h'],
    [3 * 3_600_000 + 60_000, '3h1m'],
    [8 * 3_600_000, '8h'],
    [47 * 3_600_000, '47h'],
    [49 * 3_600_000, '2d1h'],
    [8 * 86_400_000, '8d'],
    [700 * 86_400_000, '700d'],
    [800 * 86_400_000, '2y70d'],
    [9 * 365 * 86_400_000, '9y'],
  ])('%i ms are %s', (milliseconds, text) => {
    expect(humanDuration(milliseconds)).toBe(text);
  });

  it('what is no time is unknown, and what is past is now', () => {
    const now = Date.parse('2026-11-21T15:00:00Z');
    expect([
      age(null, now),
      age('x', now),
      until('2026-11-21T14:00:00Z', now),
      until('2026-11-21T15:00:09Z', now),
    ]).toEqual(['<unknown>', '<unknown>', 'now', '9s']);
  });
});

describe('a table', () => {
  const columns = [
    { title: 'NAME', cell: (row: { name: string }) => row.name },
    { title: 'MORE', cell: () => 'x', wide: true },
    { title: 'STATE', cell: () => toned('stuck', 'bad' as const) },
    { title: 'DETAIL', cell: () => '' },
  ];
  const rows = [{ name: 'deployment/web' }, { name: 'a' }];

  it('has aligned columns, no borders, <none> for nothing, and nothing at the end of a line', () => {
    expect(table(columns, rows, { paint: PLAIN })).toBe(
      [
        'NAME             STATE   DETAIL',
        'deployment/web   stuck   <none>',
        'a                stuck   <none>',
        '',
      ].join('\n'),
    );
  });

  it('has more columns when wide', () => {
    expect(table(columns, rows, { paint: PLAIN, wide: true }).split('\n')[0]).toBe(
      'NAME             MORE   STATE   DETAIL',
    );
  });

  it('is aligned by what people take for characters', () => {
    const text = table(columns, [{ name: 'e\u0301' }, { name: 'ab' }], { paint: PLAIN });
    expect(text.split('\n')[1]).toBe('e\u0301      stuck   <none>');
  });

  it('has colors on a terminal, outside of the alignment', () => {
    const painted = table(columns, rows, { paint: paintFor({ env: {} }, true) });
    expect(painted).toContain('\u001b[31mstuck\u001b[0m   <none>');
    // oxlint-disable-next-line no-control-regex -- what is looked for
    expect(painted.replaceAll(/\u001b\[\d+m/g, '')).toBe(table(columns, rows, { paint: PLAIN }));
  });

  it.each([
    ['NO_COLOR is set', { NO_COLOR: '1' }, true],
    ['the terminal is dumb', { TERM: 'dumb' }, true],
    ['it is no terminal', {}, false],
  ])('has none when %s', (_, env, isTerminal) => {
    expect(table(columns, rows, { paint: paintFor({ env }, isTerminal) })).toBe(
      table(columns, rows, { paint: PLAIN }),
    );
  });

  it('cannot be broken by what others wrote', () => {
    const name = 'x\u001b[2J\nNAME\u202e\u009b31m\u2028\t';
    const text = table(columns, [{ name }], { paint: PLAIN });
    expect(text.split('\n')).toHaveLength(3);
    for (const each of '\u001b\u009b\u202e\u2028\t') expect(text).not.toContain(each);
    expect(text).toContain(String.raw`x\u001b[2J\u000aNAME\u202e\u009b31m\u2028\u0009`);
  });

  it('of facts has its values under each other', () => {
    expect(
      facts(
        [
          ['A', '1'],
          ['Long name', ''],
        ],
        PLAIN,
      ),
    ).toBe('A:           1\nLong name:   <none>\n');
  });
});

describe('whatever is printed', () => {
  function printed(text: string, isTerminal: boolean, env: Readonly<Record<string, string>> = {}): string {
    let told = '';
    const print = (each: string): void => void (told += each);
    const rest = { now: () => 0, signal: new AbortController().signal };
    const io = safeIo({
      out: print,
      err: print,
      outIsTerminal: isTerminal,
      errIsTerminal: isTerminal,
      env,
      ...rest,
    });
    io.out(text);
    const out = told;
    io.err(text);
    expect(told).toBe(out + out);
    return out;
  }
  const PAINTED = '\u001b[31mstuck\u001b[0m\n';

  it('keeps its line breaks and, where there are colors, our own', () => {
    expect(printed(PAINTED, true)).toBe(PAINTED);
    const bare = String.raw`\u001b[31mstuck\u001b[0m`;
    expect(printed(PAINTED, false)).toBe(`${bare}\n`);
    expect(printed(PAINTED, true, { NO_COLOR: '1' })).toBe(`${bare}\n`);
  });

  it.each(['\u001b[2J', '\u001b]0;title\u0007', '\u001b[31;5m', '\u009b31m', '\u202e', '\r', '\u2028'])(
    'has no %j',
    (text) => {
      for (const isTerminal of [true, false])
        expect(printed(`a${text}b\n`, isTerminal)).toBe(`a${safeText(text)}b\n`);
    },
  );
});

describe('documents read back as they were, and have nothing that a terminal acts on', () => {
  const value = {
    yes: 'no',
    text: 'a\u001b[31mb\u009b\u202e\u200b\u007f\r\ttab\nline\u{e0001}',
    plain: ['x: y', '- z', '# c', '', ' '],
    'key\u0007': null,
    nested: { number: 1.5, flag: true, empty: {}, none: [] },
  };

  it.each([
    ['JSON', jsonText, (text: string) => JSON.parse(text) as unknown],
    ['a line of JSON', jsonLine, (text: string) => JSON.parse(text) as unknown],
    ['YAML', yamlText, (text: string) => parse(text) as unknown],
    ['YAML 1.1', yamlText, (text: string) => parse(text, { version: '1.1' }) as unknown],
  ])('%s', (_, print, read) => {
    const text = print(value);
    expect(read(text)).toEqual(value);
    expect(text.replaceAll('\n', '')).toBe(safeText(text.replaceAll('\n', '')));
    expect(read(print({ simple: 'text' }))).toEqual({ simple: 'text' });
  });

  it('YAML of plain texts is plain', () => {
    expect(yamlText({ a: 'b', list: [{ c: 1 }] })).toBe('a: b\nlist:\n  - c: 1\n');
  });
});

describe('a tree', () => {
  it('has a line for each branch, with what is beside each other aligned, and is safe', () => {
    const branches = [
      { name: 'Rollout', cell: toned('stuck', 'bad') },
      {
        name: 'Sources',
        below: [
          { name: 'secret/db', cell: 'yes' },
          { name: 'configmap/\u001b', cell: '' },
        ],
      },
      { name: 'Earlier', below: [{ name: '2m ago', cell: 'x' }] },
    ];
    expect(tree(branches, PLAIN)).toBe(
      [
        '├─ Rollout   stuck',
        '├─ Sources',
        '│  ├─ secret/db          yes',
        String.raw`│  └─ configmap/\u001b   <none>`,
        '└─ Earlier',
        '   └─ 2m ago   x',
        '',
      ].join('\n'),
    );
    expect(tree(branches, paintFor({ env: {} }, true))).toContain('Rollout   \u001b[31mstuck\u001b[0m');
  });
});

describe('a live view', () => {
  const drawn = (rows: number, texts: readonly string[]): readonly string[] => {
    const written: string[] = [];
    const write = (text: string): boolean => written.push(text) > 0;
    const redraw = redrawing({ isTTY: true, rows, write }, {});
    for (const text of texts) redraw?.(text);
    return written;
  };

  it('takes the place of what it drew before, and does not wrap', () => {
    expect(drawn(24, ['a\nb\n', 'c\n', 'd\n'])).toEqual([
      '\r\u001b[J\u001b[?7la\nb\u001b[?7h\n',
      '\u001b[2A\r\u001b[J\u001b[?7lc\u001b[?7h\n',
      '\u001b[1A\r\u001b[J\u001b[?7ld\u001b[?7h\n',
    ]);
  });

  it('leaves out what does not fit on the terminal, but not the last line', () => {
    expect(drawn(5, ['1\n2\n3\n4\n5\n6\n'])[0]).toContain('1\n2\n... 3 more lines\n6');
  });

  it.each([
    [false, {}],
    [true, { TERM: 'dumb' }],
  ])('is not for a pipe or a dumb terminal: %j, %j', (isTTY, env) => {
    expect(redrawing({ isTTY, rows: 24, write: () => true }, env)).toBe(undefined);
  });
});
