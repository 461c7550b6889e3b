import { seenSource } from '@reroll/core/testing/rows';
import { expect, test } from 'vitest';
import { SourceHandler } from './source-handler.ts';

type Context = ConstructorParameters<typeof SourceHandler>[2];

test('a deletion is told to the cluster state, with its resourceVersion', async () => {
  const told: unknown[] = [];
  const context = {
    clusterState: { sourceDeleted: (...deletion: unknown[]) => void told.push(deletion) },
    listing: { drop: () => false },
    reports: { received: () => undefined },
    changed: () => undefined,
  } as unknown as Context;
  const namespace = { name: 'ns', ended: new AbortController().signal, entering: false };
  const handler = new SourceHandler('ConfigMap', namespace, context);
  await handler.delete(seenSource('cm', 7, 'A'));
  expect(told).toEqual([['ConfigMap/ns/cm', '7', { kind: 'ConfigMap', namespace: 'ns' }]]);
});
