import { expect, it } from 'vitest';
import { HELP, readArguments } from './arguments.ts';

it('reads Secrets of random values and of certificates', () => {
  const args = [
    '--namespace=reroll',
    '--random=a:x,y-z',
    '--random',
    'b:k',
    '--certificate=t:redis,127.0.0.1',
  ];
  expect(readArguments(args)).toEqual({
    namespace: 'reroll',
    secrets: [
      { name: 'a', keys: ['x', 'y-z'] },
      { name: 'b', keys: ['k'] },
      { name: 't', hosts: ['redis', '127.0.0.1'] },
    ],
  });
});

it.each([
  ['no Secret', ['--namespace=n'], 'expected --random or --certificate; given neither'],
  ['a Secret without keys', ['--namespace=n', '--random=a'], 'expected --random=NAME:ITEM,ITEM,…; given "a"'],
  ['an empty key', ['--namespace=n', '--random=a:x,'], 'given "a:x,"'],
  [
    'what is no host',
    ['--namespace=n', '--certificate=a:*'],
    'expected --certificate=NAME:ITEM,ITEM,…; given "a:*"',
  ],
  ['an unknown flag', ['--lenght=4'], "Unknown option '--lenght'"],
])('refuses %s', (_what, args, text) => {
  expect(() => readArguments(args)).toThrow(text);
});

it.each(['--help', '-h'])('%s is help, which names every flag', (flag) => {
  expect(readArguments([flag])).toBe('help');
  for (const name of ['--namespace', '--random', '--certificate']) expect(HELP).toContain(`  ${name}\n`);
});
