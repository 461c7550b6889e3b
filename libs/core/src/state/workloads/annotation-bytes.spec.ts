import { expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '../../annotations/annotation-keys.ts';
import { MOST_ANNOTATION_BYTES } from '../../reload/annotation-room.ts';
import { seenSource } from '../../testing/rows.ts';
import { ClusterState } from '../cluster-state.ts';
import { observeWorkload } from '../observe.ts';
import type { ObservedWorkload } from '../rows.ts';

const KEY = 'StatefulSet/ns/web';

/** Of a kind whose generation counts no write of annotations. It has no record, and needs one. */
function web(rv: number, bytes: number): ObservedWorkload {
  const annotations = { [KEYS.auto]: 'true', notes: 'x'.repeat(bytes) };
  const name = 'cm';
  const spec = { containers: [{ name: 'app', envFrom: [{ configMapRef: { name } }] }] };
  const metadata = {
    name: 'web',
    namespace: 'ns',
    uid: 'u-web',
    generation: 1,
    resourceVersion: String(rv),
    creationTimestamp: '2026-01-01T00:00:00Z',
    annotations,
  };
  return observeWorkload({ kind: 'StatefulSet', metadata, template: { spec } }, KEYS);
}

function pending(bytes: number): ClusterState {
  const decision = { keys: KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 50 });
  clusterState.sourceWritten(seenSource('cm', 10, 'A'), { kind: 'ConfigMap', namespace: '' });
  clusterState.workloadWritten(web(20, bytes));
  clusterState.outbox.clear();
  return clusterState;
}

it.each([
  ['half of it', MOST_ANNOTATION_BYTES / 2],
  ['one byte', 1],
])('a workload with full annotations that is pending is enqueued when %s is removed', (_, removed) => {
  const clusterState = pending(MOST_ANNOTATION_BYTES);
  clusterState.workloadWritten(web(30, MOST_ANNOTATION_BYTES - removed));
  expect([...clusterState.outbox.reloads.keys()]).toEqual([KEY]);
});

it('nothing is done for annotations that leave room enough, nor for a write that leaves them as many', () => {
  const clusterState = pending(MOST_ANNOTATION_BYTES);
  clusterState.workloadWritten(web(30, MOST_ANNOTATION_BYTES));
  expect(clusterState.outbox.isEmpty()).toBe(true);
  const small = pending(1_000);
  small.workloadWritten(web(30, 2_000));
  expect(small.outbox.isEmpty()).toBe(true);
});
