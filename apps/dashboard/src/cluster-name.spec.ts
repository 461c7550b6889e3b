import { expect, it } from 'vitest';
import { clusterName } from './cluster-name.ts';

it('is the name that was given, and a short form of the UID that stands in for one', () => {
  expect(clusterName('shop-prod')).toBe('shop-prod');
  expect(clusterName('3f2a1b2c-0000-4000-8000-123456789abc')).toBe('cluster 3f2a1b2c');
});
