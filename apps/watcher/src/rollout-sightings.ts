import type { Ledger } from '@reroll/shared/core/ledger/ledger';
import type { ObservedWorkload, WorkloadRow } from '@reroll/shared/core/ledger/rows';
import type { WorkloadKey } from '@reroll/shared/core/model';
import type { RolloutTracker, SeenRollout } from '@reroll/shared/core/rollouts/rollout-tracker';

interface Sighting {
  readonly key: WorkloadKey;
  readonly workload: ObservedWorkload;
  readonly rollout: SeenRollout;
}

/** Tells the tracker of rollouts what the streams show of workloads that something rolls. */
export class RolloutSightings {
  readonly #ledger: Ledger;
  readonly #tracker: RolloutTracker;

  constructor(ledger: Ledger, tracker: RolloutTracker) {
    this.#ledger = ledger;
    this.#tracker = tracker;
  }

  gone(workload: WorkloadKey): void {
    this.#tracker.gone(workload);
  }

  /** Forgets workloads that the ledger no longer has. */
  prune(): void {
    this.#tracker.prune((key) => this.#ledger.workloads.has(key));
  }

  /** `tell` tells the ledger of the same sightings: a rollout begins where it then knows another template. */
  seen(sightings: readonly Sighting[], tell: () => void): void {
    const before = sightings.map(({ key }) => this.#ledger.workloads.get(key));
    tell();
    const now = Date.now();
    for (const [index, { key, workload, rollout }] of sightings.entries()) {
      const row = this.#ledger.workloads.get(key);
      if (!row || (row.edges.length === 0 && !this.#tracker.tracked.has(key))) continue;
      const isFollower = workload.templateFrom !== undefined && !this.#tracker.tracked.has(key);
      // Its pods are replaced before it is written itself: its template is that of another workload.
      const isUpdating = isFollower && rollout.code === 'Updating';
      this.#tracker.seen(rollout, { begins: isUpdating || begins(before[index], row), now });
    }
  }
}

/** It is new here, or its pod template is. */
function begins(before: WorkloadRow | undefined, now: WorkloadRow): boolean {
  return before?.uid !== now.uid || before.templateRv !== now.templateRv;
}
