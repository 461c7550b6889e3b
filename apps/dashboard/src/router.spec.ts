import { describe, expect, it } from 'vitest';
import { hrefOf, parseRoute } from './router.ts';

describe('a route in the fragment', () => {
  it.each([
    ['', { page: '', parts: [], query: {} }],
    ['#/', { page: '', parts: [], query: {} }],
    ['#/changes/1763737200123-0', { page: 'changes', parts: ['1763737200123-0'], query: {} }],
    [
      '#/workloads/Deployment/shop/web',
      { page: 'workloads', parts: ['Deployment', 'shop', 'web'], query: {} },
    ],
    [
      '#/changes?state=failed&namespace=shop',
      { page: 'changes', parts: [], query: { state: 'failed', namespace: 'shop' } },
    ],
    ['#/jobs/reloads%3A12', { page: 'jobs', parts: ['reloads:12'], query: {} }],
    ['#/changes/%E0%A4%A', { page: 'changes', parts: ['%E0%A4%A'], query: {} }],
  ])('%s is read', (fragment, route) => {
    expect(parseRoute(fragment)).toEqual(route);
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
});
