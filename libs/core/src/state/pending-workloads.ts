import type { WorkloadKey } from '../model.ts';
import type { PendingCause } from './outbox.ts';

/** A workload that stays pending is enqueued again after 1, 2, 4 … resyncs, and this many at most. */
const MAX_RESYNCS_BETWEEN_ENQUEUES = 64;

/** Why a workload is pending, and when it is enqueued again. */
export interface Pending {
  readonly cause: PendingCause;
  /** How often resyncs have enqueued it since its last evaluation by an event. */
  enqueues: number;
  nextResync: number;
  readonly sinceResync: number;
}

/** Which workloads are pending, by the last evaluation of each. */
export class PendingWorkloads {
  readonly #pending = new Map<WorkloadKey, Pending>();
  readonly all: ReadonlyMap<WorkloadKey, Readonly<Pending>> = this.#pending;
  #resyncs = 0;

  beginResync(): void {
    this.#resyncs += 1;
  }

  /** `cause`: null if it is settled. */
  evaluated(key: WorkloadKey, cause: PendingCause | null): void {
    if (cause === null) this.#pending.delete(key);
    else if (this.#pending.get(key)?.cause !== cause)
      this.#pending.set(key, { cause, enqueues: 0, nextResync: 0, sinceResync: this.#resyncs });
  }

  forget(key: WorkloadKey): void {
    this.#pending.delete(key);
  }

  /** Why it is to be enqueued by this resync; undefined: it is not. To be asked once in a resync. */
  takeTurn(key: WorkloadKey): PendingCause | undefined {
    const entry = this.#pending.get(key);
    if (!entry || entry.nextResync > this.#resyncs) return undefined;
    entry.nextResync = this.#resyncs + Math.min(2 ** entry.enqueues, MAX_RESYNCS_BETWEEN_ENQUEUES);
    entry.enqueues += 1;
    return entry.cause;
  }

  /** Forgets that any was enqueued. */
  beginAnew(): void {
    for (const entry of this.#pending.values()) {
      entry.enqueues = 0;
      entry.nextResync = 0;
    }
  }

  /** How many need a reload, and for how long (ms, by resyncs at this interval) the longest has; 0 if none does. */
  reloads(interval: number): { workloads: number; oldest: number } {
    let workloads = 0;
    let resyncs = 0;
    for (const { cause, sinceResync } of this.#pending.values()) {
      if (cause !== 'owed') continue;
      workloads += 1;
      resyncs = Math.max(resyncs, this.#resyncs - sinceResync);
    }
    return { workloads, oldest: resyncs * interval };
  }
}
