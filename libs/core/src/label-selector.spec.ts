import { describe, expect, it } from 'vitest';
import { labelSelectorText, matchesLabels, parseLabelSelector } from './label-selector.ts';

function textOf(given: string): string | undefined {
  const selector = parseLabelSelector(given);
  return selector && labelSelectorText(selector);
}

describe('a label selector', () => {
  it.each([
    ['env=prod', 'env=prod'],
    ['env==prod', 'env=prod'],
    ['env = prod , team', 'env=prod,team'],
    ['env!=prod', 'env!=prod'],
    ['!legacy', '!legacy'],
    ['env in (a, b),team notin (c,d)', 'env in (a,b),team notin (c,d)'],
    ['example.com/env=', 'example.com/env='],
    ['version>5', 'version>5'],
    ['version < 007 , env', 'version<007,env'],
    ['version>9223372036854775807', 'version>9223372036854775807'],
  ])('%s is read as the API server reads it: %s', (given, expected) => {
    expect(textOf(given)).toBe(expected);
  });

  it.each([
    ['env:prod', 'env=prod'],
    ['env:*', 'env'],
    ['env=*', 'env'],
    ['env=*,a=b', 'env,a=b'],
    ['env:*,a:b', 'env,a=b'],
  ])('%s, an older spelling, is %s', (given, expected) => {
    expect(textOf(given)).toBe(expected);
  });

  it.each([
    '',
    ',',
    'env=a b',
    '-env',
    'env in (a',
    'env in ((a))',
    'env=prod,',
    '!',
    '=a',
    'env>',
    'env>a',
    'env>*',
    'env>-1',
    'env>=1',
    'env<1.5',
    'env>1=2',
    'env>9223372036854775808',
    '!env>1',
    '>1',
    'a=b=c',
    'a=b>1',
  ])('%j is none', (given) => {
    expect(parseLabelSelector(given)).toBeUndefined();
  });

  it.each<[string, Record<string, string> | undefined, boolean]>([
    ['env', { env: '' }, true],
    ['env', undefined, false],
    ['!env', {}, true],
    ['!env', { env: 'a' }, false],
    ['env=a', { env: 'a' }, true],
    ['env=a', { env: 'b' }, false],
    ['env!=a', {}, true],
    ['env!=a', { env: 'a' }, false],
    ['env in (a,b),x', { env: 'b', x: '1' }, true],
    ['env in (a,b),x', { env: 'b' }, false],
    ['env notin (a,b)', { env: 'c' }, true],
    ['version>5', { version: '6' }, true],
    ['version>5', { version: '10' }, true],
    ['version>5', { version: '5' }, false],
    ['version>5', { version: '06' }, true],
    ['version>5', {}, false],
    ['version>5', { version: '' }, false],
    ['version>5', { version: 'v6' }, false],
    ['version>5', { version: '6.5' }, false],
    ['version>5', { version: '9223372036854775808' }, false],
    ['version>9007199254740992', { version: '9007199254740993' }, true],
    ['version<5', { version: '4' }, true],
    ['version<5', { version: '5' }, false],
    ['version<5', undefined, false],
  ])('%s matches %j: %s', (given, labels, expected) => {
    expect(matchesLabels(parseLabelSelector(given) ?? [], labels)).toBe(expected);
  });
});
