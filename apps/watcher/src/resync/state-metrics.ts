import type { CertificateDates, CertificateInUse } from '@reroll/core/certificates/certificate-dates';
import { kindOf, namespaceOf, type Key, type WorkloadKey } from '@reroll/core/model';
import type { StaleRollouts } from '@reroll/core/rollouts/stale-rollouts';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import { ROWS_PER_SLICE, slicesOf } from '@reroll/core/state/slices';
import { isInConflict } from '@reroll/core/state/workloads/conflict';
import { OTHER_NAMESPACES } from '@reroll/shared/platform/metrics/by-namespace';
import { MOST_NAMESPACES } from '@reroll/shared/platform/metrics/shared';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { inTurns } from '../watch/in-turns.ts';

/** Sources or certificates counted in one turn of the event loop. */
const COUNTED_PER_TURN = 5_000;
/** Series of certificates: a tenant can create any number of Secrets. */
const MOST_CERTIFICATES = 1_000;

export interface StateMetricsContext {
  readonly clusterState: ClusterState;
  readonly stale: StaleRollouts;
  readonly certificates: CertificateDates;
  readonly metrics: WatcherMetrics;
  /** Milliseconds between two resyncs. */
  readonly interval: number;
}

/** Sets the metrics of what a watcher knows of the cluster. A standby counts what it sees, too. */
export class StateMetrics {
  readonly #context: StateMetricsContext;
  /** Kinds that the last count included. */
  #counted: string[] = [];

  constructor(context: StateMetricsContext) {
    this.#context = context;
  }

  /** Looks at every row once, in turns. Do not call it again before it has resolved. */
  async count(): Promise<void> {
    await this.#countRows();
    await this.#countStale();
    await this.#countCertificates();
  }

  async #countRows(): Promise<void> {
    const { clusterState, certificates, metrics } = this.#context;
    // A kind whose last object is gone, perhaps with its API, counts 0 instead of keeping its old number.
    const objects = new Map<string, number>(this.#counted.map((kind) => [kind, 0]));
    let contested = 0;
    const contestedIn = new Map<string, number>();
    const count = (key: Key<string>): void =>
      void objects.set(kindOf(key), (objects.get(kindOf(key)) ?? 0) + 1);
    certificates.beginCount();
    await inTurns(slicesOf(clusterState.workloads, ROWS_PER_SLICE), {
      each: (slice) => {
        for (const [key, row] of slice) {
          count(key);
          if (isInConflict(row.conflict)) {
            contested += 1;
            contestedIn.set(namespaceOf(key), (contestedIn.get(namespaceOf(key)) ?? 0) + 1);
          }
          certificates.count(key, row, () => this.#isPending(key) || this.#context.stale.isStale(key));
        }
      },
    });
    await inTurns(slicesOf(clusterState.sources, COUNTED_PER_TURN), {
      each: (slice) => {
        for (const [key, { exists }] of slice) if (exists) count(key);
      },
    });
    for (const [kind, number] of objects) metrics.objects.set({ kind }, number);
    this.#counted = [...objects.keys()];
    metrics.contestedWorkloads.set(contested);
    setByNamespace(metrics.contestedIn, contestedIn, (others) =>
      others.reduce((sum, count) => sum + count, 0),
    );
  }

  async #countStale(): Promise<void> {
    const { clusterState, stale, metrics, interval } = this.#context;
    let notPending = 0;
    let since = Date.now();
    await inTurns(slicesOf(stale.underWay, ROWS_PER_SLICE), {
      each: (slice) => {
        for (const [key, rollout] of slice) {
          if (!stale.isStale(key)) continue;
          since = Math.min(since, rollout.since);
          if (!this.#isPending(key)) notPending += 1;
        }
      },
    });
    const { workloads, oldest, oldestIn } = clusterState.pendingReloads(interval);
    metrics.pendingWorkloads.set(workloads);
    metrics.oldestPending.set(oldest / 1000);
    const seconds = new Map([...oldestIn].map(([namespace, age]) => [namespace, age / 1000]));
    setByNamespace(metrics.oldestPendingIn, seconds, ([longest = 0]) => longest);
    metrics.staleWorkloads.set(workloads + notPending);
    metrics.oldestStaleRollout.set(Math.max(0, Date.now() - since) / 1000);
  }

  async #countCertificates(): Promise<void> {
    const { clusterState, certificates, metrics } = this.#context;
    const readable: (CertificateInUse & { readonly expiresAt: number })[] = [];
    let unreadable = 0;
    const all = certificates.inUse((source) => clusterState.sources.has(source));
    await inTurns(slicesOf(all, COUNTED_PER_TURN), {
      each: (slice) => {
        for (const found of slice) {
          if (found?.expiresAt !== undefined) readable.push({ ...found, expiresAt: found.expiresAt });
          else if (found) unreadable += 1;
        }
      },
    });
    if (readable.length > MOST_CERTIFICATES) readable.sort((a, b) => a.expiresAt - b.expiresAt);
    metrics.certificateExpiry.reset();
    for (const { namespace, secret, expiresAt } of readable.slice(0, MOST_CERTIFICATES))
      metrics.certificateExpiry.set({ secret_namespace: namespace, secret }, expiresAt);
    const tooMany = Math.max(0, readable.length - MOST_CERTIFICATES);
    metrics.certificatesLeftOut.set({ reason: 'unreadable' }, unreadable);
    metrics.certificatesLeftOut.set({ reason: 'too_many' }, tooMany);
  }

  #isPending(key: WorkloadKey): boolean {
    return this.#context.clusterState.pending.get(key)?.cause === 'owed';
  }
}

/** Sets the highest values, and what `combine` makes of the others, the highest first. */
function setByNamespace(
  gauge: WatcherMetrics['contestedIn'],
  values: ReadonlyMap<string, number>,
  combine: (others: readonly number[]) => number,
): void {
  const sorted = [...values].sort(([, a], [, b]) => b - a);
  const others = sorted.slice(MOST_NAMESPACES).map(([, value]) => value);
  gauge.reset();
  for (const [namespace, value] of sorted.slice(0, MOST_NAMESPACES))
    gauge.set({ workload_namespace: namespace }, value);
  if (others.length > 0) gauge.set({ workload_namespace: OTHER_NAMESPACES }, combine(others));
}
