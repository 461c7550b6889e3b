import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../objects.ts';
import { podSelector } from './pod-selector.ts';

function of(selector: unknown): string | undefined {
  return podSelector({ metadata: {}, spec: { selector } } as unknown as KubeObject);
}

describe('the selector of the pods of a workload', () => {
  it.each([
    ['labels', { matchLabels: { app: 'web', tier: '' } }, 'app=web,tier='],
    [
      'expressions',
      {
        matchLabels: { 'shop.io/app': 'web' },
        matchExpressions: [
          { key: 'tier', operator: 'In', values: ['a', 'b'] },
          { key: 'track', operator: 'NotIn', values: ['canary'] },
          { key: 'here', operator: 'Exists' },
          { key: 'gone', operator: 'DoesNotExist' },
        ],
      },
      'shop.io/app=web,tier in (a,b),track notin (canary),here,!gone',
    ],
    ['the map of a DeploymentConfig', { name: 'web' }, 'name=web'],
  ])('is said by %s', (_what, selector, expected) => {
    expect(of(selector)).toBe(expected);
  });

  it.each([
    ['is missing', undefined],
    ['selects everything', {}],
    ['selects everything by no label', { matchLabels: {} }],
    ['has an operator that is none', { matchExpressions: [{ key: 'a', operator: 'Near', values: ['b'] }] }],
    ['has a value that would be more than one', { matchLabels: { app: 'web,tier=db' } }],
    ['has a value that is no text', { matchLabels: { app: null } }],
  ])('is not asked by if it %s', (_what, selector) => {
    expect(of(selector)).toBeUndefined();
  });
});
