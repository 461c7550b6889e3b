import { lastReloadOf } from '@reroll/core/holds/rollout-slots';
import type { WorkloadKey } from '@reroll/core/model';
import type { WorkloadRow } from '@reroll/core/state/rows';

interface Known {
  readonly record: string | undefined;
  readonly at: number;
}

/** When workloads were last reloaded, by their records. Each is read once, because it may be long. */
export class LastReloads {
  readonly #workloads: ReadonlyMap<WorkloadKey, Pick<WorkloadRow, 'record'>>;
  #earlier = new Map<WorkloadKey, Known>();
  #known = new Map<WorkloadKey, Known>();

  constructor(workloads: ReadonlyMap<WorkloadKey, Pick<WorkloadRow, 'record'>>) {
    this.#workloads = workloads;
  }

  /** Returns Unix seconds; 0: none. */
  of(workload: WorkloadKey): number {
    const record = this.#workloads.get(workload)?.record;
    const known = this.#known.get(workload) ?? this.#earlier.get(workload);
    const at = known && known.record === record ? known.at : lastReloadOf(record);
    // The text of the row, so that an earlier one with the same content is not kept.
    this.#earlier.delete(workload);
    this.#known.set(workload, { record, at });
    return at;
  }

  /** Forgets the workloads that nobody has asked about since the last call. */
  forgetUnasked(): void {
    this.#earlier = this.#known;
    this.#known = new Map();
  }
}
