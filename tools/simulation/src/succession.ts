/**
 * Who leads after whom. A watcher that was in sync while somebody led goes before one that was not (docs/adr/0037), so it has missed
 * nothing (docs/guide/how-it-works.md: a failover to a synced standby is no gap).
 */
import type { Disturber } from './disturb.ts';
import type { Faults } from './faults.ts';
import type { Places } from './places.ts';
import type { SimulatedProcess } from './process.ts';
import type { Scheduler } from './scheduler.ts';

/** What is counted when a standby takes the lead that has seen everything. */
export const CLEAN_FAILOVER = 'failover to a synced standby';

/** Before the end of a leader, in virtual milliseconds: a standby has seen the Lease renewed, as has every other watcher. */
const SEEN_BEFORE = 6_000;

/** Virtual milliseconds in which a leader that was frozen finds that it leads no more. It has done nothing since it froze. */
const THAWED = 1_000;

export interface SuccessionBy {
  readonly events: Scheduler;
  readonly faults: Faults;
  readonly places: Places;
  readonly disturber: Disturber;
}

export class Succession {
  readonly #by: SuccessionBy;
  #leader: SimulatedProcess | undefined;
  /** Up to when the last leader saw what was written; at first, when the install began. */
  #ledUntil: number;
  #hasLed = false;
  /** The times in which nobody led, by the end of the last leader and the beginning of the next. */
  readonly #leaderless: { readonly from: number; readonly to: number }[] = [];

  constructor(by: SuccessionBy) {
    this.#by = by;
    this.#ledUntil = by.events.now();
  }

  /** A process has ended. */
  ended(process: SimulatedProcess): void {
    if (process !== this.#leader) return;
    this.#ledUntil = this.#sees(process);
    this.#leader = undefined;
  }

  /** The process has taken the Lease. Returns a standby that was to take it before. */
  overtaken(process: SimulatedProcess): SimulatedProcess | undefined {
    const until = this.#until();
    if (wasInSync(process, until)) return undefined;
    const { places, disturber } = this.#by;
    if (!disturber.isApiQuietSince(until - SEEN_BEFORE)) return undefined;
    return places.processes.find(
      (each) =>
        each !== process &&
        each.isAlive &&
        !each.isStopping &&
        wasInSync(each, until - SEEN_BEFORE) &&
        each.frozenUntil < until - SEEN_BEFORE,
    );
  }

  /** The process leads from now on. Returns from when on it has missed what was written; `undefined`: nothing. */
  begins(process: SimulatedProcess): number | undefined {
    const until = this.#until();
    const isClean = wasInSync(process, until);
    if (this.#hasLed) this.#by.faults.count(isClean ? CLEAN_FAILOVER : 'failover with a gap');
    this.#hasLed = true;
    this.#leader = process;
    this.#leaderless.push({ from: until, to: this.#by.events.now() });
    return isClean ? undefined : until;
  }

  /** When the process listed while nobody led: what was written between these times it has seen in no order. */
  listed({ syncedAt }: SimulatedProcess): { readonly from: number; readonly to: number } | undefined {
    const gap = this.#leaderless.find(({ from, to }) => syncedAt > from && syncedAt <= to);
    return gap && { from: gap.from, to: syncedAt };
  }

  /** From when on a leader may have put what was written at this time into the catalog; `Infinity`: nobody leads. */
  catalogedFrom(time: number): number {
    if (!this.#leader && time >= this.#ledUntil) return Infinity;
    const gap = this.#leaderless.find(({ from, to }) => time >= from && time <= to);
    return gap?.to ?? time;
  }

  #until(): number {
    return this.#leader ? this.#sees(this.#leader) : this.#ledUntil;
  }

  /** Up to when the process has been able to see what was written, and to pass it on. */
  #sees(process: SimulatedProcess): number {
    const { events, places, disturber } = this.#by;
    const known = Math.min(disturber.stale.knowsUntil(places.serverOf(process)), process.stoppingSince);
    return process.frozenUntil > events.now() - THAWED ? Math.min(known, process.frozenSince) : known;
  }
}

function wasInSync({ syncedAt }: SimulatedProcess, until: number): boolean {
  return syncedAt > 0 && syncedAt <= until;
}
