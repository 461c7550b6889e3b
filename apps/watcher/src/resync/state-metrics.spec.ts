import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { CertificateDates } from '@reroll/core/certificates/certificate-dates';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { RolloutTracker } from '@reroll/core/rollouts/rollout-tracker';
import { StaleRollouts } from '@reroll/core/rollouts/stale-rollouts';
import { ClusterState } from '@reroll/core/state/cluster-state';
import type { ObservedWorkload } from '@reroll/core/state/rows';
import { CERTIFICATES, tlsCrt } from '@reroll/core/testing/certificates';
import { recordOf, seenSource, seenWorkload } from '@reroll/core/testing/rows';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RolloutSightings } from '../rollouts/rollout-sightings.ts';
import { StateMetrics } from './state-metrics.ts';

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const DEPLOYMENTS = { kind: 'Deployment', namespace: '' };
const ROLLOUTS = { kind: 'Rollout', namespace: '' };
const NOTHING = { rv: '9', objects: [], catalog: new Map() };
const { sooner, later } = CERTIFICATES;

let clusterState: ClusterState;
let certificates: CertificateDates;
let sightings: RolloutSightings;
let registry: Registry;
let counts: StateMetrics;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  clusterState = new ClusterState({ decision, adoptedAt: 0 });
  certificates = new CertificateDates();
  registry = new Registry();
  const tracker = new RolloutTracker();
  const stale = new StaleRollouts(clusterState, tracker.tracked);
  sightings = new RolloutSightings(clusterState, { tracker, stale }, NO_PODS);
  const metrics = watcherMetrics(registry);
  counts = new StateMetrics({ clusterState, stale, certificates, metrics, interval: 60_000 });
});
afterEach(() => vi.useRealTimers());

/** The lines of a metric after a count. */
async function counted(name: string): Promise<string[]> {
  await counts.count();
  const text = await registry.getSingleMetricAsString(name);
  return text.split('\n').filter((line) => line.startsWith(name));
}

/** A live sighting of a workload, its rollout complete or not. */
const NO_PODS = { want: () => undefined, gone: () => undefined, prune: () => undefined };

function sees(name: string, rv: number, isComplete: boolean, more: Partial<ObservedWorkload> = {}): void {
  const workload = seenWorkload(name, rv, { generation: rv, ...more });
  const { key, generation } = workload;
  const rollout = {
    workload: key,
    generation,
    state: isComplete ? ('complete' as const) : ('progressing' as const),
    code: isComplete ? ('Complete' as const) : ('OldPodsPending' as const),
    updated: 1,
    ready: 1,
    desired: 1,
    conditions: [],
  };
  sightings.seen([{ key, workload, rollout }], () => clusterState.workloadWritten(workload));
}

function listed(...sources: readonly ReturnType<typeof seenSource>[]): void {
  clusterState.sourcesListed({ ...NOTHING, scope: SOURCES, objects: sources });
  clusterState.workloadListBegins(DEPLOYMENTS);
  clusterState.workloadsListed({ ...NOTHING, scope: DEPLOYMENTS });
}

describe('objects', () => {
  it('of a kind whose last object is gone, or its API with all of them, are counted as none', async () => {
    listed(seenSource('cm', 1, 'a'));
    clusterState.workloadListBegins(ROLLOUTS);
    const rollout = seenWorkload('web', 1, { key: 'Rollout/ns/web', kind: 'Rollout' });
    clusterState.workloadsListed({ ...NOTHING, scope: ROLLOUTS, objects: [rollout] });
    const both = async (): Promise<readonly string[]> =>
      (await counted('reroll_objects')).filter((line) => /"(ConfigMap|Rollout)"/.test(line));
    expect(await both()).toEqual(['reroll_objects{kind="ConfigMap"} 1', 'reroll_objects{kind="Rollout"} 1']);
    clusterState.sourceDeleted('ConfigMap/ns/cm', '10', SOURCES);
    clusterState.workloadsListed({ ...NOTHING, scope: ROLLOUTS });
    expect(await both()).toEqual(['reroll_objects{kind="ConfigMap"} 0', 'reroll_objects{kind="Rollout"} 0']);
  });
});

describe('a workload whose source changes', () => {
  const RECORDED = { record: recordOf({ cm: 'a' }) };
  const RELOADED = { template: 't2', record: recordOf({ cm: 'b' }) };

  beforeEach(() => {
    listed(seenSource('cm', 1, 'a'));
    sees('web', 10, true, RECORDED);
    clusterState.sourceWritten(seenSource('cm', 11, 'b'), SOURCES);
  });

  it('is stale while it is pending, held or not', async () => {
    expect(await counted('reroll_stale_workloads')).toEqual(['reroll_stale_workloads 1']);
    expect(await counted('reroll_oldest_stale_rollout_seconds')).toEqual([
      'reroll_oldest_stale_rollout_seconds 0',
    ]);
  });

  it('is stale until its rollout is complete, and the time of that is counted', async () => {
    sees('web', 12, false, RELOADED);
    vi.setSystemTime(Date.now() + 90_000);
    expect(await counted('reroll_stale_workloads')).toEqual(['reroll_stale_workloads 1']);
    expect(await counted('reroll_owed_workloads')).toEqual(['reroll_owed_workloads 0']);
    expect(await counted('reroll_oldest_stale_rollout_seconds')).toEqual([
      'reroll_oldest_stale_rollout_seconds 90',
    ]);
    sees('web', 13, true, RELOADED);
    expect(await counted('reroll_stale_workloads')).toEqual(['reroll_stale_workloads 0']);
    expect(await counted('reroll_oldest_stale_rollout_seconds')).toEqual([
      'reroll_oldest_stale_rollout_seconds 0',
    ]);
  });

  it('is counted once if it is pending again while its rollout is under way', async () => {
    sees('web', 12, false, RELOADED);
    clusterState.sourceWritten(seenSource('cm', 13, 'c'), SOURCES);
    expect(await counted('reroll_owed_workloads')).toEqual(['reroll_owed_workloads 1']);
    expect(await counted('reroll_stale_workloads')).toEqual(['reroll_stale_workloads 1']);
  });

  it('is counted for its namespace, the 20 namespaces that have waited longest have a series, and the others one together', async () => {
    const series = 'reroll_namespace_oldest_owed_seconds';
    const scope = { kind: 'ConfigMap', namespace: '' };
    expect(await counted(series)).toEqual([`${series}{workload_namespace="ns"} 0`]);
    for (let n = 0; n < 25; n += 1) {
      clusterState.intervalPassed();
      const namespace = `ns-${n}`;
      const key: SourceKey = `ConfigMap/${namespace}/cm`;
      clusterState.sourceWritten(seenSource('cm', 19, 'a', { key }), scope);
      sees('web', 20, true, { ...RECORDED, key: `Deployment/${namespace}/web`, namespace });
      clusterState.sourceWritten(seenSource('cm', 21, 'b', { key }), scope);
    }
    const lines = await counted(series);
    expect(lines[0]).toBe(`${series}{workload_namespace="ns"} 1500`);
    expect(lines.slice(-2)).toEqual([
      `${series}{workload_namespace="ns-18"} 360`,
      `${series}{workload_namespace="_other"} 300`,
    ]);
    expect(lines).toHaveLength(21);
    clusterState.workloadDeleted('Deployment/ns/web');
    expect((await counted(series))[0]).toBe(`${series}{workload_namespace="ns-0"} 1440`);
  });

  it('is no longer stale if it is deleted', async () => {
    sees('web', 12, false, RELOADED);
    const key: WorkloadKey = 'Deployment/ns/web';
    clusterState.workloadDeleted(key);
    sightings.gone(key);
    expect(await counted('reroll_stale_workloads')).toEqual(['reroll_stale_workloads 0']);
  });
});

it('a rollout that brings no newer data is not stale', async () => {
  listed(seenSource('cm', 1, 'a'));
  sees('web', 10, true, { record: recordOf({ cm: 'a' }) });
  sees('web', 11, false, { record: recordOf({ cm: 'a' }), template: 't2' });
  expect(await counted('reroll_stale_workloads')).toEqual(['reroll_stale_workloads 0']);
});

describe('workloads in conflict', () => {
  const series = 'reroll_namespace_contested_workloads';

  function contested(namespace: string): void {
    const scope = { kind: 'ConfigMap', namespace: '' };
    const key: WorkloadKey = `Deployment/${namespace}/web`;
    clusterState.sourceWritten(seenSource('cm', 1, 'a', { key: `ConfigMap/${namespace}/cm` }), scope);
    sees('web', 10, true, { key, namespace, record: recordOf({ cm: 'a' }) });
    for (let rv = 11; rv < 17; rv += 2) {
      const removed = { key, namespace, record: recordOf({ cm: `b${rv}` }), writtenAt: 100 };
      sees('web', rv, true, { ...removed, template: 't2' });
      sees('web', rv + 1, true, { ...removed, template: 't1' });
    }
  }

  it('are counted for their namespace', async () => {
    listed();
    expect(await counted(series)).toEqual([]);
    contested('ns');
    expect(await counted(series)).toEqual([`${series}{workload_namespace="ns"} 1`]);
  });

  it('are counted together for all namespaces but the 20 that have the most', async () => {
    listed();
    for (let n = 0; n < 25; n += 1) contested(`ns-${n}`);
    const lines = await counted(series);
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe(`${series}{workload_namespace="_other"} 5`);
  });
});

describe('certificates', () => {
  const EXPIRY = 'reroll_certificate_expiry_timestamp_seconds';
  const LEFT_OUT = 'reroll_certificates_left_out';
  const SECRETS = { kind: 'Secret', namespace: '' };
  let rv = 20;

  function written(name: string, hash: string, pem: string): void {
    rv += 1;
    const seen = seenSource(name, rv, hash, { key: `Secret/ns/${name}` as SourceKey });
    clusterState.sourceWritten(seen, SECRETS);
    certificates.seen(certificates.observed(seen, tlsCrt(pem)));
  }

  function secretIs(name: string, expiresAt: number): string {
    return `${EXPIRY}{secret_namespace="ns",secret="${name}"} ${expiresAt}`;
  }

  it('are those that a workload depends on, the earlier one until its pods have the present one', async () => {
    listed();
    written('tls', 'a', sooner.pem);
    written('unused', 'a', sooner.pem);
    const uses = { uses: ['Secret/tls'] };
    sees('web', (rv += 1), true, uses);
    expect(await counted(EXPIRY)).toEqual([secretIs('tls', sooner.expiresAt)]);

    written('tls', 'b', later.pem);
    for (let count = 0; count < 3; count += 1)
      expect(await counted(EXPIRY)).toEqual([secretIs('tls', sooner.expiresAt)]);
    sees('web', (rv += 1), false, { ...uses, template: 't2' });
    expect(await counted('reroll_owed_workloads')).toEqual(['reroll_owed_workloads 0']);
    expect(await counted(EXPIRY)).toEqual([secretIs('tls', sooner.expiresAt)]);
    sees('web', (rv += 1), true, { ...uses, template: 't2' });
    expect(await counted(EXPIRY)).toEqual([secretIs('tls', later.expiresAt)]);
  });

  it('that cannot be read have no series and are counted', async () => {
    listed();
    written('tls', 'a', 'x');
    sees('web', (rv += 1), true, { uses: ['Secret/tls'] });
    expect(await counted(EXPIRY)).toEqual([]);
    expect(await counted(LEFT_OUT)).toEqual([
      `${LEFT_OUT}{reason="unreadable"} 1`,
      `${LEFT_OUT}{reason="too_many"} 0`,
    ]);
  });

  it('beyond 1,000 have no series, those that expire last, and are counted', async () => {
    listed();
    const names = Array.from({ length: 1_002 }, (_, index) => `tls-${index}`);
    for (const name of names) written(name, 'a', name < 'tls-2' ? later.pem : sooner.pem);
    const uses = names.map((name) => `Secret/${name}`);
    sees('web', (rv += 1), true, { uses: uses.slice(0, 501) });
    sees('api', (rv += 1), true, { uses: uses.slice(501) });
    const series = new Set(await counted(EXPIRY));
    expect(series.size).toBe(1_000);
    const first = names.filter((name) => name >= 'tls-2');
    expect(first.filter((name) => !series.has(secretIs(name, sooner.expiresAt)))).toEqual([]);
    expect(await counted(LEFT_OUT)).toContain(`${LEFT_OUT}{reason="too_many"} 2`);
  });
});
