/** etcd is backed up, and set back to that (docs/adr/0027). */
import type { Controllers } from './api/controllers.ts';
import type { Backup } from './api/etcd.ts';
import type { SimulatedApi } from './api/simulated-api.ts';
import type { Faults } from './faults.ts';
import type { Places } from './places.ts';
import type { Scheduler } from './scheduler.ts';
import type { Truth } from './world/truth.ts';

/**
 * Virtual milliseconds in which every watcher reads the Lease. "If the backup was taken after the last renewal of the Lease that the
 * watchers saw, it is noticed only when they list again" (docs/guide/how-it-works.md): such a restore is left out.
 */
const LEASE_READ = 6_000;
/** Until a watcher reads the Lease, the next leader may write it as often as it was written after the backup. */
const LEASE_WRITES = 5;
/** From a decision that was made before the restore to its patch. */
const ON_ITS_WAY = 5_000;

export interface BackupsBy {
  readonly events: Scheduler;
  readonly api: SimulatedApi;
  readonly controllers: Controllers;
  readonly places: Places;
  readonly faults: Faults;
  readonly truth: Truth;
  /** Whether every watcher could read the Lease in time since then. */
  readonly isApiQuietSince: (time: number) => boolean;
  readonly log: (line: string) => void;
  readonly inDoubt: () => void;
  readonly etcdRestored: () => void;
}

interface Taken {
  readonly etcd: Backup;
  readonly truth: ReturnType<Truth['backUp']>;
}

export class Backups {
  readonly #by: BackupsBy;
  #taken: Taken | undefined;
  /** When the Lease was first renewed after the backup. */
  #renewedAt = Infinity;
  /** Without a Lease in the backup, the next one only looks like one that was deleted; what changed since is noticed by its objects. */
  #hasLease = false;
  /** How often the Lease was written after the backup. */
  #renewals = 0;
  #restoredAt: number | undefined;

  constructor(by: BackupsBy) {
    this.#by = by;
    by.api.onChange(({ type, after }) => {
      if (type.kind !== 'Lease' || !after) return;
      this.#renewedAt = Math.min(this.#renewedAt, by.events.now());
      this.#renewals += 1;
      this.#hasLease = true;
    });
  }

  take(): void {
    if (!this.#hasLease) return;
    const { api, truth } = this.#by;
    this.#taken = { etcd: api.backUp(), truth: truth.backUp() };
    this.#renewedAt = Infinity;
    this.#renewals = 0;
  }

  restore(bump: number): void {
    const { events, api, truth, controllers, faults, inDoubt, etcdRestored, log } = this.#by;
    if (!this.#taken || !this.#isNoticeable()) return;
    this.#restoredAt = events.now();
    faults.count(bump > 0 ? 'etcd restored with a bump' : 'etcd restored');
    // The Lease has to run out before somebody leads again.
    faults.troubleApi(0);
    api.restore(this.#taken.etcd, bump);
    truth.restore(this.#taken.truth, { reusesRevisions: bump === 0 });
    this.#taken = undefined;
    log(`etcd is as it was at @${api.etcd.revision - bump}`);
    etcdRestored();
    inDoubt();
    controllers.resync();
    this.#lookAgain();
  }

  /** A watcher that does not know yet. */
  unaware(): string | undefined {
    const { places } = this.#by;
    const since = this.#restoredAt;
    if (since === undefined) return undefined;
    return places.processes.find(
      ({ kind, isAlive, startedAt }) => kind === 'watcher' && isAlive && startedAt < since,
    )?.name;
  }

  #isNoticeable(): boolean {
    const { events, places, isApiQuietSince } = this.#by;
    const from = events.now() - LEASE_READ;
    const wereAwake = places.processes.every(({ frozenUntil }) => frozenUntil < from);
    const isRenewed = this.#renewedAt < from && this.#renewals >= LEASE_WRITES;
    return isRenewed && wereAwake && isApiQuietSince(from);
  }

  /** Until a watcher that began after the restore leads, and no other is there. */
  #lookAgain(): void {
    const { events, places, truth } = this.#by;
    const since = this.#restoredAt ?? 0;
    events.after(500, undefined, () => {
      const leads = places.processes.some(
        ({ isAlive, leads: isLeader, startedAt }) => isAlive && isLeader && startedAt >= since,
      );
      if (!leads || this.unaware() !== undefined) return this.#lookAgain();
      events.after(ON_ITS_WAY, undefined, () => truth.noticed());
    });
  }
}
