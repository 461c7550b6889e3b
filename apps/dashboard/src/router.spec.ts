import { afterEach, describe, expect, it } from 'vitest';
import { hrefOf, parseRoute, route } from './router.ts';

afterEach(() => void (route.value = parseRoute('')));

describe('a route in the fragment', () => {
  it.each([
    ['', { page: '' }],
    ['#/', { page: '' }],
    ['#/changes/1763737200123-0', { page: 'changes', parts: ['1763737200123-0'] }],
    ['#/workloads/Deployment/shop/web', { page: 'workloads', parts: ['Deployment', 'shop', 'web'] }],
    [
      '#/changes?state=failed&namespace=shop',
      { page: 'changes', namespace: 'shop', query: { state: 'failed' } },
    ],
    ['#/jobs/reloads%3A12', { page: 'jobs', parts: ['reloads:12'] }],
    ['#/changes/%E0%A4%A', { page: 'changes', parts: ['%E0%A4%A'] }],
  ])('%s is read', (fragment, expected) => {
    expect(parseRoute(fragment)).toEqual({ parts: [], namespace: '', query: {}, ...expected });
  });

  it('leaves out what is empty, and is read as it was written', () => {
    const href = hrefOf('explain', [], { workload: 'Deployment/shop/web', source: '', since: undefined });
    expect(href).toBe('#/explain?workload=Deployment%2Fshop%2Fweb');
    expect(parseRoute(href).query).toEqual({ workload: 'Deployment/shop/web' });
    expect(parseRoute(hrefOf('sources', ['Secret', 'shop', 'a/b?c#d'])).parts).toEqual([
      'Secret',
      'shop',
      'a/b?c#d',
    ]);
  });

  it('keeps the namespace that the reader has chosen, unless a link is for another, or for all', () => {
    route.value = parseRoute('#/changes?namespace=shop&state=failed');
    expect(hrefOf('workloads', [], { due: 'owed' })).toBe('#/workloads?namespace=shop&due=owed');
    expect(hrefOf('workloads', ['Deployment', 'bank', 'web'])).toBe(
      '#/workloads/Deployment/bank/web?namespace=shop',
    );
    expect(hrefOf('', [], { namespace: 'bank' })).toBe('#/?namespace=bank');
    expect(hrefOf('changes', [], { namespace: '' })).toBe('#/changes');
  });
});
