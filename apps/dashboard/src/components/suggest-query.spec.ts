import { expect, it } from 'vitest';
import { suggestQuery } from './suggest-query.ts';

it('suggests by a part of the name, or by the parts of a key as far as they are typed', () => {
  expect(suggestQuery('workload', ' we ')).toEqual({ name: 'we', limit: '20' });
  expect(suggestQuery('workload', 'Deployment/sh')).toEqual({ kind: 'Deployment', limit: '20' });
  expect(suggestQuery('workload', 'Deployment/shop/w')).toEqual({
    kind: 'Deployment',
    namespace: 'shop',
    name: 'w',
    limit: '20',
  });
});

it('asks for nothing that the API would refuse', () => {
  expect(suggestQuery('source', 'Deployment/Shop_/w')).toEqual({ name: 'w', limit: '20' });
  expect(suggestQuery('source', 'Secret/shop/')).toEqual({
    kind: 'Secret',
    namespace: 'shop',
    name: '',
    limit: '20',
  });
});
