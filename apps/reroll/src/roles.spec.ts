import { expect, it } from 'vitest';
import { VERSION } from '@reroll/shared/platform/process/version';
import { choose, ROLES } from './roles.ts';

it.each(Object.keys(ROLES))('%s is a role', (role) => {
  expect(choose(role)).toEqual({ role });
});

it.each([
  ['nothing', undefined, 'none'],
  ['an option', '--debounce=0', '"--debounce"'],
  ['an option with a secret', '--redis-url=redis://:hunter2@redis', '"--redis-url"'],
  ['a URL with a secret', 'redis://:hunter2@redis', '"redis://***@redis"'],
  ['a name of every object', 'toString', '"toString"'],
  ['another case', 'Watcher', '"Watcher"'],
])('%s is refused: what was expected, and what was given', (_, first, given) => {
  expect(choose(first)).toEqual({
    text: `expected watcher, worker, admin, all or make-secrets as the first argument; given ${given}\nRun with --help for what they are.`,
    exitCode: 2,
  });
});

it.each(['--help', '-h'])('%s lists the roles', (flag) => {
  const choice = choose(flag);
  expect(choice).toMatchObject({ exitCode: 0 });
  for (const [role, text] of Object.entries(ROLES))
    expect(choice).toHaveProperty('text', expect.stringContaining(`  ${role}\n        ${text}\n`));
});

it('--version is that of the build', () => {
  expect(choose('--version')).toEqual({ text: `reroll ${VERSION}`, exitCode: 0 });
});
