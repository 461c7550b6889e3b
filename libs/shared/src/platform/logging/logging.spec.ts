import { describe, expect, it } from 'vitest';
import { createLogger, LOG_LEVELS } from './logging.ts';
import type { LogFormat, Logger, LogLevel, LogValue } from './logging.ts';

const SECRET = 'hunter2-s3cr3t';

/** A logger that keeps its lines, with a fixed clock. */
function logger(format: LogFormat, level: LogLevel = 'trace'): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const now = () => new Date('2026-11-20T23:57:47.123Z');
  const log = createLogger({ format, level, now, sink: { write: (line) => lines.push(line) } });
  return { log, lines };
}

describe('the text log', () => {
  it.each<[string, string, Record<string, LogValue>, string]>([
    ['is that of logrus', 'Starting Reloader', {}, 'msg="Starting Reloader"'],
    ['leaves a single word unquoted', 'ready', {}, 'msg=ready'],
    ['puts fields behind the message, by name', 'a b', { z: 1, b: true }, 'msg="a b" b=true z=1'],
    [
      'quotes what holds more than letters, digits and -._/@^+',
      'm',
      { k: 'a:b', l: 'a/b-c' },
      'msg=m k="a:b" l=a/b-c',
    ],
    ['leaves the empty value empty', 'm', { k: '' }, 'msg=m k='],
    ['escapes as Go does', 'm', { k: 'a"\n\u0007\u0001\u007f' }, String.raw`msg=m k="a\"\n\a\x01\x7f"`],
    [
      'escapes what steers a terminal or turns the writing',
      'a \u009b2J',
      { k: '\u0085\u2028\u202e\u2066\u200f\ufeff', l: ['\u009b'], m: 'é😀\u{e0001}' },
      String.raw`msg="a \u009b2J" k="\u0085\u2028\u202e\u2066\u200f\ufeff" l="[\"\u009b\"]" m="é😀\udb40\udc01"`,
    ],
    ['writes a list as JSON', 'm', { k: ['a', 'b'] }, String.raw`msg=m k="[\"a\",\"b\"]"`],
    [
      'renames a field that is called as its own',
      'm',
      { level: 'x', time: 'y' },
      'msg=m fields.level=x fields.time=y',
    ],
    ['leaves out a field that is undefined', 'm', { k: undefined }, 'msg=m'],
  ])('%s', (...[, message, fields, expected]) => {
    const { log, lines } = logger('text');
    log.info(message, fields);
    expect(lines).toEqual([`time="2026-11-20T23:57:47Z" level=info ${expected}\n`]);
  });

  it('names the levels as logrus does', () => {
    const { log, lines } = logger('text');
    for (const level of LOG_LEVELS) log[level]('m');
    expect(lines.map((line) => /level=(\w+)/u.exec(line)?.[1])).toEqual([...LOG_LEVELS]);
  });
});

describe('the JSON log', () => {
  it('has level, message and time as logrus, and the fields beside them', () => {
    const { log, lines } = logger('json');
    log.warning('a "b"', { kind: 'Secret', count: 2, names: ['x'] });
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      {
        level: 'warning',
        msg: 'a "b"',
        time: '2026-11-20T23:57:47Z',
        kind: 'Secret',
        count: 2,
        names: ['x'],
      },
    ]);
  });
});

describe('the JSON log of strange characters', () => {
  it('escapes what steers a terminal or turns the writing, and keeps its value', () => {
    const { log, lines } = logger('json');
    const text = 'é😀 \u007f\u009b2J\u2028\u202e\u2069\u200e\u{e0001}';
    log.warning('m', { text, list: [text] });
    expect(lines[0]).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+\n$/u);
    expect(lines[0]).toContain(String.raw`"é😀 \u007f\u009b2J\u2028\u202e\u2069\u200e\udb40\udc01"`);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ text, list: [text] });
  });
});

describe('a logger', () => {
  it('leaves out what is less important than its level', () => {
    const { log, lines } = logger('json', 'warning');
    for (const level of LOG_LEVELS) log[level](level);
    log.child({ a: 1 }).info('info');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'warning',
      'error',
      'fatal',
      'panic',
    ]);
  });

  it('adds the fields of its parents, and lets a line replace them', () => {
    const { log, lines } = logger('text');
    log.child({ queue: 'reloads', a: 1 }).child({ job: '7' }).info('m', { a: 2 });
    expect(lines[0]).toContain('msg=m a=2 job=7 queue=reloads');
  });

  it('logs of an unknown error its class and code only', () => {
    const { log, lines } = logger('json');
    log.failure('Patch failed', Object.assign(new Error(`value "${SECRET}"`), { code: 422 }), {
      step: 'patch',
    });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'error',
      msg: 'Patch failed',
      step: 'patch',
      error: 'Error',
      code: '422',
    });
    expect(lines.join('')).not.toContain(SECRET);
  });

  it.each<[string, unknown]>([
    ['an object from the cluster', { data: { password: SECRET } }],
    ['an error', new Error(SECRET)],
    ['a list of objects', [{ value: SECRET }]],
    ['a buffer', Buffer.from(SECRET)],
    ['a function', () => SECRET],
  ])('withholds %s that got past the types', (_sentence, value) => {
    const { log, lines } = logger('json');
    const smuggled = value as LogValue;
    log.info('m', { smuggled });
    log.child({ smuggled }).info('m');
    expect(lines.map((line) => (JSON.parse(line) as { smuggled: string }).smuggled)).toEqual([
      '[withheld]',
      '[withheld]',
    ]);
  });
});
