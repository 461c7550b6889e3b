import { expect, it } from 'vitest';
import { REROLL } from '../src/options.ts';
import { flagsOf, subjectOf } from '../src/reloader.ts';
import { subjectText } from '../src/report/report.ts';
import { SCENARIOS } from '../src/scenarios.ts';

const SUBJECT = { reroll: REROLL };

it.each([
  ['idle', 'debounce 0', ['--debounce=0']],
  ['default', 'default debounce', []],
] as const)('the scenario %s starts watcher and worker with %s', (name, text, flags) => {
  const subject = subjectOf(SUBJECT, SCENARIOS[name]);
  if (!('reroll' in subject)) throw new Error('expected Reroll, given another reloader');
  for (const kind of ['watcher', 'worker'] as const)
    expect(flagsOf(kind, subject.reroll).filter((flag) => flag.startsWith('--debounce'))).toEqual(flags);
  expect(subjectText(subject)).toMatch(new RegExp(`, ${text}$`, 'u'));
});

it('another reloader is started by its command line in each scenario', () => {
  const other = { commandLine: '/opt/reloader' };
  expect(subjectOf(other, SCENARIOS.default)).toBe(other);
});
