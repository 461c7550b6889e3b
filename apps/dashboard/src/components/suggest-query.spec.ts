import { expect, it } from 'vitest';
import { suggestQuery } from './suggest-query.ts';

it('suggests by a part of the name, by namespace and name, or by the parts of a key as far as they are typed', () => {
  expect(suggestQuery('workload', ' We ')).toEqual({ name: 'we' });
  expect(suggestQuery('workload', 'shop/W')).toEqual({ namespace: 'shop', name: 'w' });
  expect(suggestQuery('workload', 'Deployment/sh')).toEqual({ kind: 'Deployment' });
  expect(suggestQuery('workload', 'Deployment/shop/w')).toEqual({
    kind: 'Deployment',
    namespace: 'shop',
    name: 'w',
  });
});

it('asks for nothing that the API would refuse', () => {
  expect(suggestQuery('source', 'Secret/Shop_/w')).toEqual({ kind: 'Secret', name: 'w' });
  expect(suggestQuery('source', 'Secret/shop/')).toEqual({ kind: 'Secret', namespace: 'shop', name: '' });
});

it('finds nothing among sources by the key of a workload', () => {
  expect(suggestQuery('source', 'Deployment/shop/w')).toEqual({ name: 'deployment/shop/w' });
  expect(suggestQuery('source', 'Deployment/sh')).toEqual({ name: 'deployment/sh' });
});
