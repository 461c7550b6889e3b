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
    'env>1',
    'a=b=c',
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
  ])('%s matches %j: %s', (given, labels, expected) => {
    expect(matchesLabels(parseLabelSelector(given) ?? [], labels)).toBe(expected);
  });
});
