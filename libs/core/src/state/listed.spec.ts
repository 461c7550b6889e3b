import { expect, it } from 'vitest';
import { Positions } from './listed.ts';

const DEPLOYMENTS = { kind: 'Deployment', namespace: '' };

it('workloads are listed at the position of the stream of sources that is the furthest behind', () => {
  const positions = new Positions();
  positions.sourcesListed({ kind: 'Secret', namespace: '' }, '9');
  positions.sourcesListed({ kind: 'ConfigMap', namespace: '' }, '10');
  positions.advance({ kind: 'Secret', namespace: '' }, '20');
  positions.workloadListBegins(DEPLOYMENTS);
  expect(positions.sourcesAtListOf(DEPLOYMENTS)).toBe('10');
});
