import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { recordOf, seenSource, seenWorkload, sourceRow } from '../testing/rows.ts';
import { ClusterState } from './cluster-state.ts';
import type { Listed } from './listed.ts';
import type { ObservedSource, SourceRow } from './rows.ts';

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const CM = 'ConfigMap/ns/cm';
const WEB = 'Deployment/ns/web';

function listOf(
  rv: string,
  more: Partial<Listed<ObservedSource, SourceRow>>,
): Listed<ObservedSource, SourceRow> {
  return { scope: SOURCES, rv, objects: [], catalog: new Map(), ...more };
}

/** A workload of 20 with the data A, whose source was written with B at 150. */
function pendingAt150(): ClusterState {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 50 });
  clusterState.sourcesListed(listOf('100', { objects: [seenSource('cm', 10, 'A')] }));
  clusterState.workloadWritten(seenWorkload('web', 20, { record: recordOf({ cm: 'A' }) }));
  clusterState.sourceWritten(seenSource('cm', 150, 'B'), SOURCES);
  clusterState.outbox.clear();
  return clusterState;
}

const pending = (clusterState: ClusterState): string | undefined => clusterState.pending.get(WEB)?.cause;

describe('a source that loses its labels while a reload for it is pending', () => {
  it('makes nothing pending, by an event and by a list, and its row says so', () => {
    const byEvent = pendingAt150();
    expect(pending(byEvent)).toBe('owed');
    byEvent.sourceUnwatched(CM, '160');
    const byList = pendingAt150();
    byList.sourcesListed(listOf('160', { unwatched: new Set([CM]) }));
    for (const clusterState of [byEvent, byList]) {
      expect(pending(clusterState)).toBeUndefined();
      expect(clusterState.sources.get(CM)).toMatchObject({ rv: '150', exists: true, isUnwatched: true });
      expect(clusterState.outbox.sources.has(CM)).toBe(true);
      expect(clusterState.outbox.changes.size + clusterState.outbox.reloads.size).toBe(0);
    }
  });

  it.each([
    ['as it was', 'B', 'owed'],
    ['with other data', 'C', 'owed'],
    ['with the data of the pods', 'A', undefined],
  ])('is judged again once it has them %s', (_, hash, cause) => {
    for (const by of ['event', 'list']) {
      const clusterState = pendingAt150();
      clusterState.sourceUnwatched(CM, '160');
      clusterState.outbox.clear();
      const seen = seenSource('cm', 170, hash);
      if (by === 'event') clusterState.sourceWritten(seen, SOURCES);
      else clusterState.sourcesListed(listOf('180', { objects: [seen] }));
      expect(pending(clusterState)).toBe(cause);
      expect(clusterState.sources.get(CM)).not.toHaveProperty('isUnwatched');
      const { reloads, changes } = clusterState.outbox;
      expect([...reloads.keys(), ...changes]).toEqual([hash === 'B' ? WEB : CM]);
    }
  });

  it('is pending again if another selector shows it without a write', () => {
    const clusterState = pendingAt150();
    clusterState.sourcesListed(listOf('160', { unwatched: new Set([CM]) }));
    clusterState.sourcesListed(listOf('170', { objects: [seenSource('cm', 150, 'B')] }));
    expect(pending(clusterState)).toBe('owed');
    expect(clusterState.sources.get(CM)).toEqual(sourceRow(150, 'B'));
  });

  it('is known to a watcher that finds it in the catalog only', () => {
    const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
    const clusterState = new ClusterState({ decision, adoptedAt: 50 });
    const catalog = new Map([[CM, sourceRow(150, 'B')]]);
    clusterState.sourcesListed(listOf('160', { catalog, unwatched: new Set([CM]) }));
    clusterState.workloadWritten(seenWorkload('web', 20, { record: recordOf({ cm: 'A' }) }));
    expect(pending(clusterState)).toBeUndefined();
    clusterState.sourceWritten(seenSource('cm', 170, 'B'), SOURCES);
    expect(pending(clusterState)).toBe('owed');
  });

  it('counts as watched if it was written after the list or the event that does not show it', () => {
    const clusterState = pendingAt150();
    clusterState.sourceUnwatched(CM, '140');
    clusterState.sourcesListed(listOf('140', { unwatched: new Set([CM]) }));
    expect(pending(clusterState)).toBe('owed');
  });

  it('is deleted like any other', () => {
    const clusterState = pendingAt150();
    clusterState.sourceUnwatched(CM, '160');
    clusterState.sourcesListed(listOf('170', {}));
    expect(clusterState.sources.get(CM)).toEqual(sourceRow(150, 'B', { rv: '170', exists: false }));
  });
});
