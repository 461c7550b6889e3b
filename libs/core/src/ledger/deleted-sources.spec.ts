import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotation-keys.ts';
import { recordOf, seenSource, seenWorkload, sourceRow } from '../testing/rows.ts';
import { RESYNCS_KEPT } from './deleted-sources.ts';
import { Ledger } from './ledger.ts';
import type { ObservedWorkload } from './rows.ts';
import { NO_TRIGGERS, type Triggers } from './triggers.ts';

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const CM = 'ConfigMap/ns/cm';
const WEB = 'Deployment/ns/web';
const BY_PATTERN = { uses: [], annotations: { 'configmap.reloader.stakater.com/reload': 'c.*' } };

function ledgerOf(workloads: ObservedWorkload[], triggers: Triggers = NO_TRIGGERS): Ledger {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const ledger = new Ledger({ decision, adoptedAt: 50, triggers });
  ledger.sourcesListed({ scope: SOURCES, rv: '100', objects: [], catalog: new Map() });
  ledger.workloadListBegins(WORKLOADS);
  ledger.workloadsListed({ scope: WORKLOADS, rv: '100', objects: workloads, catalog: new Map() });
  return ledger;
}

function resync(ledger: Ledger, times = RESYNCS_KEPT + 1): void {
  for (let n = 0; n < times; n += 1) for (const _ of ledger.prune()) continue;
}

function createAndDelete(ledger: Ledger, name: string, rv: number): void {
  ledger.sourceWritten(seenSource(name, rv, 'A'), SOURCES);
  ledger.sourceDeleted(`ConfigMap/ns/${name}`, String(rv + 1), SOURCES);
}

describe('of a deleted source', () => {
  it('nothing is left, of a thousand that nobody names, and each is removed from the catalog', () => {
    const ledger = ledgerOf([]);
    for (let n = 0; n < 1_000; n += 1) createAndDelete(ledger, `cm-${n}`, 200 + 2 * n);
    ledger.outbox.clear();
    resync(ledger, RESYNCS_KEPT);
    expect(ledger.sources.size).toBe(1_000);
    resync(ledger, 1);
    expect(ledger.sources.size).toBe(0);
    expect([...ledger.sourcesIn({ kind: 'ConfigMap', namespace: 'ns' })]).toEqual([]);
    expect(ledger.outbox.sources.size).toBe(1_000);
  });

  it('that is found deleted at a start, the row of the catalog is dropped in the same way', () => {
    const ledger = ledgerOf([]);
    const catalog = new Map([[CM, sourceRow(10, 'A')]]);
    ledger.sourcesListed({ scope: SOURCES, rv: '110', objects: [], catalog });
    resync(ledger);
    expect(ledger.sources.size).toBe(0);
  });

  it.each<[string, Partial<ObservedWorkload>]>([
    ['uses it', {}],
    ['mentions it', { uses: [], mentions: ['ConfigMap/cm'] }],
    ['names it', { uses: [], annotations: { 'configmap.reloader.stakater.com/reload': 'cm' } }],
    ['has it recorded', { uses: [], record: recordOf({ cm: 'A' }) }],
  ])('the row stays as long as a workload %s', (_how, more) => {
    const ledger = ledgerOf([seenWorkload('web', 20, more)]);
    createAndDelete(ledger, 'cm', 110);
    resync(ledger);
    expect([...ledger.sources.keys()]).toEqual([CM]);
    ledger.workloadWritten(seenWorkload('web', 120, { uses: [], annotations: {}, generation: 2 }));
    resync(ledger, 1);
    expect(ledger.sources.size).toBe(0);
  });

  it('that only a pattern means, nothing is left, and the workload depends on it no more', () => {
    const ledger = ledgerOf([seenWorkload('web', 20, BY_PATTERN)]);
    createAndDelete(ledger, 'cm', 110);
    expect(ledger.workloads.get(WEB)?.edges).toEqual(['ConfigMap/cm']);
    ledger.outbox.clear();
    resync(ledger);
    expect(ledger.workloads.get(WEB)).toMatchObject({ edges: [], baselines: {}, stale: [] });
    expect(ledger.sourcesOf(WEB)).toEqual([]);
    expect(ledger.outbox.workloads.has(WEB)).toBe(true);
    ledger.sourceWritten(seenSource('cm', 150, 'B'), SOURCES);
    expect(ledger.workloads.get(WEB)?.edges).toEqual(['ConfigMap/cm']);
    expect(ledger.unsettled.get(WEB)?.cause).toBe('correct');
  });

  it('the row stays as long as its deletion is pending', () => {
    const ledger = ledgerOf([seenWorkload('web', 20, BY_PATTERN)], { ...NO_TRIGGERS, onDelete: 'always' });
    createAndDelete(ledger, 'cm', 110);
    resync(ledger);
    expect(ledger.unsettled.get(WEB)?.cause).toBe('owed');
    expect(ledger.sources.size).toBe(1);
  });

  it('that is back nothing is dropped', () => {
    const ledger = ledgerOf([]);
    createAndDelete(ledger, 'cm', 110);
    ledger.sourceWritten(seenSource('cm', 120, 'A'), SOURCES);
    resync(ledger);
    expect([...ledger.sources.keys()]).toEqual([CM]);
  });

  it('for which a workload is late, the deletion still counts', () => {
    const ledger = ledgerOf([], { ...NO_TRIGGERS, onDelete: 'always' });
    createAndDelete(ledger, 'cm', 110);
    resync(ledger, RESYNCS_KEPT);
    ledger.workloadWritten(seenWorkload('web', 105, { record: recordOf({ cm: 'A' }) }));
    resync(ledger);
    expect(ledger.unsettled.get(WEB)?.cause).toBe('owed');
  });
});
