import { namespaceOf, type WorkloadKey } from '../model.ts';
import type { PendingCause } from './outbox.ts';

/** The most resyncs between two enqueues. A workload that stays pending is enqueued again after 1, 2, 4 … resyncs. */
const MAX_RESYNCS_BETWEEN_ENQUEUES = 64;

/** Why a workload is pending, and when it is enqueued again. */
export interface Pending {
  readonly cause: PendingCause;
  /** How often resyncs have enqueued the workload since an event last evaluated it. */
  enqueues: number;
  nextResync: number;
  /** The interval in which it became pending. */
  readonly since: number;
}

/** Workloads that need a reload, and for how long the first of them has needed one (ms, counted in whole intervals). */
export interface PendingReloads {
  readonly workloads: number;
  /** 0 if there is none. */
  readonly oldest: number;
  /** The same by namespace, for those with any. */
  readonly oldestIn: ReadonlyMap<string, number>;
}

/** The workloads that are pending by their last evaluation. */
export class PendingWorkloads {
  readonly #pending = new Map<WorkloadKey, Pending>();
  readonly all: ReadonlyMap<WorkloadKey, Readonly<Pending>> = this.#pending;
  #resyncs = 0;
  #intervals = 0;

  intervalPassed(): void {
    this.#intervals += 1;
  }

  beginResync(): void {
    this.#resyncs += 1;
  }

  /** `cause` is null if the workload is settled. */
  evaluated(key: WorkloadKey, cause: PendingCause | null): void {
    if (cause === null) this.#pending.delete(key);
    else if (this.#pending.get(key)?.cause !== cause)
      this.#pending.set(key, { cause, enqueues: 0, nextResync: 0, since: this.#intervals });
  }

  /** An event has the workload evaluated. If it stays pending, resyncs enqueue it as often as one that has just become so. */
  touched(key: WorkloadKey): void {
    const entry = this.#pending.get(key);
    if (!entry) return;
    entry.enqueues = 0;
    entry.nextResync = 0;
  }

  forget(key: WorkloadKey): void {
    this.#pending.delete(key);
  }

  /** Returns why this resync must enqueue the workload, or undefined if it must not. Call it once in each resync. */
  takeTurn(key: WorkloadKey): PendingCause | undefined {
    const entry = this.#pending.get(key);
    if (!entry || entry.nextResync > this.#resyncs) return undefined;
    entry.nextResync = this.#resyncs + Math.min(2 ** entry.enqueues, MAX_RESYNCS_BETWEEN_ENQUEUES);
    entry.enqueues += 1;
    return entry.cause;
  }

  /** Forgets what was enqueued. */
  beginAnew(): void {
    for (const key of this.#pending.keys()) this.touched(key);
  }

  /** `interval`: milliseconds between two calls of `intervalPassed`. */
  reloads(interval: number): PendingReloads {
    let workloads = 0;
    let oldest = 0;
    const oldestIn = new Map<string, number>();
    for (const [key, { cause, since }] of this.#pending) {
      if (cause !== 'owed') continue;
      const age = (this.#intervals - since) * interval;
      const namespace = namespaceOf(key);
      workloads += 1;
      oldest = Math.max(oldest, age);
      oldestIn.set(namespace, Math.max(oldestIn.get(namespace) ?? 0, age));
    }
    return { workloads, oldest, oldestIn };
  }
}
