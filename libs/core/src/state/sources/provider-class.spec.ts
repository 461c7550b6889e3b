import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../../annotations/annotation-keys.ts';
import { AUTO, seenSource, seenWorkload, sourceRow } from '../../testing/rows.ts';
import { ClusterState } from '../cluster-state.ts';
import type { ObservedSource, SourceRow } from '../rows.ts';

const CLASS = 'SecretProviderClass/ns/vault';
const NAME = 'SecretProviderClass/vault';
const CLASSES = { kind: 'SecretProviderClass', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const WEB = 'Deployment/ns/web';
const IGNORED = { 'reloader.stakater.com/ignore': 'true' };

let clusterState: ClusterState;

function vault(rv: number, hash: string, more: Partial<ObservedSource> = {}): ObservedSource {
  return seenSource('vault', rv, hash, {
    key: CLASS,
    providerClass: { markerHash: `sha1 of ${hash}`, rv: '1' },
    ...more,
  });
}

/** What the stream of statuses lists at 300, long after the workload was seen at 100. */
function listClasses(objects: ObservedSource[], rows: Record<string, SourceRow> = {}): void {
  clusterState.sourcesListed({ scope: CLASSES, rv: '300', objects, catalog: new Map(Object.entries(rows)) });
}

beforeEach(() => {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  clusterState = new ClusterState({ decision, adoptedAt: 50 });
  clusterState.workloadListBegins(WORKLOADS);
  const web = seenWorkload('web', 100, { uses: [NAME], annotations: AUTO });
  clusterState.workloadsListed({ scope: WORKLOADS, rv: '110', objects: [web], catalog: new Map() });
});

describe('a kind of source whose API comes later', () => {
  it('is adopted with what its first list shows: the workloads that are known have nothing pending', () => {
    listClasses([vault(290, 'v1')]);
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
  });

  it('is adopted with what comes after an empty list, too', () => {
    listClasses([]);
    clusterState.sourceWritten(vault(310, 'v1'), CLASSES);
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
  });

  it('counts from then on', () => {
    listClasses([vault(290, 'v1')]);
    clusterState.sourceWritten(vault(310, 'v2'), CLASSES);
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });

  it('is not adopted anew if the catalog knew it: what changed in the gap is pending', () => {
    listClasses([vault(290, 'v2')], { [CLASS]: sourceRow(200, 'v1') });
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });
});

describe('annotations of a SecretProviderClass', () => {
  it('are taken in though its versions were written later than they', () => {
    listClasses([vault(290, 'v1')]);
    clusterState.outbox.clear();
    const facts = { markerHash: 'sha1 of v1', rv: '280' };
    clusterState.sourceWritten(vault(290, 'v1', { annotations: IGNORED, providerClass: facts }), CLASSES);
    expect(clusterState.sources.get(CLASS)).toMatchObject({ rv: '290', dataRv: '290', annotations: IGNORED });
    expect([...clusterState.outbox.sources]).toEqual([CLASS]);
    expect(clusterState.pending.size).toBe(0);
  });

  it('of an earlier write are not', () => {
    listClasses([vault(290, 'v1', { providerClass: { markerHash: 'm', rv: '280' } })]);
    clusterState.sourceWritten(vault(290, 'v1', { annotations: IGNORED }), CLASSES);
    expect(clusterState.sources.get(CLASS)?.annotations).toEqual({});
  });

  it('that end its being ignored begin a dependency of which nothing is pending for the past', () => {
    listClasses([vault(290, 'v1', { annotations: IGNORED })]);
    const facts = { markerHash: 'm', rv: '280' };
    clusterState.sourceWritten(vault(290, 'v1', { providerClass: facts }), CLASSES);
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
  });
});
