import type { ObservedSource } from '@reroll/core/state/rows';
import { seenSource } from '@reroll/core/testing/rows';
import { expect, test } from 'vitest';
import { SourceHandler, SourcePresence } from './source-handler.ts';

type Context = ConstructorParameters<typeof SourceHandler>[2];

/** Handles a deletion of `cm` at 7. Returns what the cluster state is told. */
async function toldOfDeletion({ uid, presence }: { uid?: string; presence?: SourcePresence } = {}) {
  const told: unknown[] = [];
  const context = {
    clusterState: { sourceDeleted: (...deletion: unknown[]) => void told.push(deletion) },
    listing: { drop: () => false },
    reports: { received: () => undefined },
    changed: () => undefined,
    presence,
  } as unknown as Context;
  const namespace = { name: 'ns', ended: new AbortController().signal, entering: false };
  const handler = new SourceHandler('ConfigMap', namespace, context);
  await handler.delete({ ...seenSource('cm', 7, 'A'), ...(uid === undefined ? {} : { uid }) });
  return told;
}

const DELETION = ['ConfigMap/ns/cm', '7', { kind: 'ConfigMap', namespace: 'ns' }];

test('a deletion is told to the cluster state, with its resourceVersion', async () => {
  expect(await toldOfDeletion()).toEqual([DELETION]);
});

test('with a label selector, a source that only lost its labels is not deleted, but one that came back is', async () => {
  const get = async () => ({ body: { metadata: { uid: 'second' } } }) as never;
  const presence = new SourcePresence({ get }, new AbortController().signal, (error) =>
    expect.fail(String(error)),
  );
  expect(await toldOfDeletion({ uid: 'second', presence })).toEqual([]);
  expect(await toldOfDeletion({ uid: 'first', presence })).toEqual([DELETION]);
});

test('a certificate is noted unless the cluster state knows a later write of its Secret', () => {
  const noted: unknown[] = [];
  const later = seenSource('later', 9, 'B');
  const context = {
    clusterState: {
      sources: new Map([[later.key, later]]),
      sourceWritten(seen: ObservedSource) {
        if (seen.key !== later.key) this.sources.set(seen.key, seen);
      },
    },
    certificates: { seen: ({ key }: ObservedSource) => void noted.push(key) },
    reports: { received: () => undefined, unchanged: () => undefined },
    changed: () => undefined,
  } as unknown as Context;
  const namespace = { name: 'ns', ended: new AbortController().signal, entering: false };
  const handler = new SourceHandler('ConfigMap', namespace, context);
  void handler.upsert([seenSource('cm', 7, 'A'), seenSource('later', 7, 'A')], 'MODIFIED');
  expect(noted).toEqual(['ConfigMap/ns/cm']);
});
