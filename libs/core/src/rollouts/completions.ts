import { LONGEST_BAKE } from '../holds/waves.ts';
import type { WorkloadKey } from '../model.ts';
import { takeFrom } from '../take-from.ts';
import type { RolloutState } from './rollout.ts';

/** When a workload's last rollout was complete. Unix milliseconds. */
export interface Completion {
  readonly completeAt: number;
  /** Since when pods of it are unavailable again; undefined: they are available. */
  readonly unavailableSince?: number;
}

export interface CompletionChanges {
  readonly put: readonly (readonly [WorkloadKey, Completion])[];
  readonly removed: readonly WorkloadKey[];
}

/**
 * Remembers for an hour when rollouts were complete, and whether their pods are available since, for the waves that observe them.
 * Holds at most one small entry for each workload.
 */
export class Completions {
  /** The oldest first. */
  readonly #known = new Map<WorkloadKey, Completion>();
  readonly #dirty = new Set<WorkloadKey>();

  get isDirty(): boolean {
    return this.#dirty.size > 0;
  }

  has(workload: WorkloadKey): boolean {
    return this.#known.has(workload);
  }

  /** The rollout was under way, and is complete now. */
  completed(workload: WorkloadKey, now: number): void {
    this.#known.delete(workload);
    this.#put(workload, { completeAt: now });
    for (const [oldest, { completeAt }] of this.#known) {
      if (completeAt > now - LONGEST_BAKE) break;
      this.forget(oldest);
    }
  }

  /** A sighting without a rollout. Pods that come back are observed from then on. */
  seen(workload: WorkloadKey, state: RolloutState, now: number): void {
    const known = this.#known.get(workload);
    if (!known) return;
    const isAvailable = state === 'complete';
    if (isAvailable === (known.unavailableSince === undefined)) return;
    if (isAvailable) this.completed(workload, now);
    else this.#put(workload, { ...known, unavailableSince: now });
  }

  forget(workload: WorkloadKey): void {
    if (this.#known.delete(workload)) this.#dirty.add(workload);
  }

  /** Forgets workloads that no longer exist. */
  prune(isThere: (workload: WorkloadKey) => boolean): void {
    for (const workload of this.#known.keys()) if (!isThere(workload)) this.forget(workload);
  }

  /** Marks everything for writing again, and what an earlier leader wrote for removal unless it is known. */
  assertAll(written: Iterable<WorkloadKey> = []): void {
    for (const workload of this.#known.keys()) this.#dirty.add(workload);
    for (const workload of written) this.#dirty.add(workload);
  }

  /** Drops pending writes, because a standby writes nothing. */
  discard(): void {
    this.#dirty.clear();
  }

  /** Takes what is to be written: all of `first`, and at most `most` others. The caller gives it back if the write fails. */
  take(most: number, first: readonly WorkloadKey[]): CompletionChanges {
    const dirty = first.filter((workload) => this.#dirty.delete(workload));
    dirty.push(...takeFrom(this.#dirty, most));
    return {
      put: dirty.flatMap((workload) => {
        const known = this.#known.get(workload);
        return known ? [[workload, known] as const] : [];
      }),
      removed: dirty.filter((workload) => !this.#known.has(workload)),
    };
  }

  giveBack({ put, removed }: CompletionChanges): void {
    for (const [workload] of put) this.#dirty.add(workload);
    for (const workload of removed) this.#dirty.add(workload);
  }

  #put(workload: WorkloadKey, completion: Completion): void {
    this.#known.set(workload, completion);
    this.#dirty.add(workload);
  }
}
