import type { SourceKey } from '../model.ts';
import { NO_ANNOTATIONS, type ObservedSource, type SourceRow } from '../state/rows.ts';
import type { RecordHash } from '../record/record-hash.ts';
import { RV_UNKNOWN, isNewer, maxRv, type Rv } from '../rv.ts';
import type { SeenStatus } from './observe-status.ts';

export interface StatusList {
  readonly statuses: readonly SeenStatus[];
  /** Keys of statuses that exist but could not be read: what was known of them stays. */
  readonly unread: ReadonlySet<string>;
  /** The rows that the cluster state or, at the first list, the catalog has of the classes in reach. */
  readonly rows: ReadonlyMap<SourceKey, SourceRow>;
}

/** What a list of statuses says of the classes. */
export interface ListedClasses {
  /** As of the list. A class whose versions stayed has the resourceVersion of its row. */
  readonly listed: readonly ObservedSource[];
  /** Then how far each is known: versions stay, the resourceVersion moves. */
  readonly advanced: readonly ObservedSource[];
}

interface Present {
  readonly hash: RecordHash;
  readonly markerHash: string;
  /** When a status was last written that shows it, Unix seconds; 0: nothing tells. */
  readonly shownAt: number;
}

interface ClassState {
  present: Present;
  /** Of the last event of any of its statuses: everything up to it is accounted for. */
  rv: Rv;
  statuses: Map<string, SeenStatus>;
}

/**
 * From what single pods have mounted (SecretProviderClassPodStatus) to what a class has at present. Pods rotate
 * one after the other, at any pace, so a status tells of a change only when *its own* versions change, or when
 * its pod has just mounted: then the provider has these now, and they are the class's. A status that is merely
 * still there with older versions, written or not, says nothing; neither does one that goes.
 *
 * After a gap without memory it goes by when each status was last written by the driver: what the latest shows is
 * present. A status that lingers, its metadata written or not, was written before. Within one second, or where
 * nothing tells the time, the resourceVersion decides: in doubt it rolls. A pure state machine; one for each
 * stream of statuses.
 */
export class ProviderClasses {
  readonly #states = new Map<SourceKey, ClassState>();
  /** The SecretProviderClass objects themselves: for their annotations. */
  readonly #objects = new Map<SourceKey, ObservedSource>();

  statusesListed(list: StatusList): ListedClasses {
    const byClass = this.#grouped(list);
    const listed: ObservedSource[] = [];
    const advanced: ObservedSource[] = [];
    for (const key of new Set([...byClass.keys(), ...this.#objects.keys()])) {
      const statuses = byClass.get(key) ?? [];
      const row = list.rows.get(key);
      const state = this.#listedState(key, statuses, row);
      if (!state) continue;
      const isKept = row !== undefined && state.present.hash === this.#presentOf(key, row)?.hash;
      const rv = isKept ? row.rv : state.rv;
      this.#states.set(key, state);
      listed.push({ ...this.#seen(key, state), rv });
      state.rv = statuses.reduce((newest, status) => maxRv(newest, status.rv), maxRv(state.rv, rv));
      if (isNewer(state.rv, rv)) advanced.push(this.#seen(key, state));
    }
    this.#forget((key) => !byClass.has(key) && !this.#objects.has(key));
    return { listed, advanced };
  }

  /** The class as it is after a live write of a status; undefined if the status says nothing. */
  statusWritten(status: SeenStatus): ObservedSource | undefined {
    const { source } = status;
    const shown = presentIn(status);
    if (source === undefined || !shown) return undefined;
    const state = this.#states.get(source) ?? { present: shown, rv: RV_UNKNOWN, statuses: new Map() };
    const isNews = hasOwnChange(state.statuses.get(status.key), status);
    if (isNews && !status.hashes.includes(state.present.hash)) state.present = shown;
    state.present = { ...state.present, shownAt: lastShownAt([status], state.present) };
    state.statuses.set(status.key, status);
    state.rv = maxRv(state.rv, status.rv);
    this.#states.set(source, state);
    return this.#seen(source, state);
  }

  statusDeleted({ key, source }: SeenStatus): void {
    if (source !== undefined) this.#states.get(source)?.statuses.delete(key);
  }

  /** Every SecretProviderClass in reach; gives those of which versions are known. */
  classesListed(objects: readonly ObservedSource[], unread: ReadonlySet<string>): ObservedSource[] {
    for (const key of this.#objects.keys()) if (!unread.has(key)) this.#objects.delete(key);
    for (const seen of objects) this.#objects.set(seen.key, seen);
    return [...this.#states].map(([key, state]) => this.#seen(key, state));
  }

  /** The class with its annotations as they are now; undefined while its versions are not known. */
  classWritten(seen: ObservedSource): ObservedSource | undefined {
    this.#objects.set(seen.key, seen);
    const state = this.#states.get(seen.key);
    return state && this.#seen(seen.key, state);
  }

  /** What is known of its versions stays as long as a pod has it mounted, and until the next list. */
  classDeleted(key: SourceKey): void {
    this.#objects.delete(key);
  }

  #forget(isGone: (key: SourceKey) => boolean): void {
    for (const key of this.#states.keys()) if (isGone(key)) this.#states.delete(key);
  }

  #grouped({ statuses, unread }: StatusList): Map<SourceKey, SeenStatus[]> {
    const kept = [...this.#states.values()].flatMap((state) =>
      [...state.statuses.values()].filter(({ key }) => unread.has(key)),
    );
    const byClass = new Map<SourceKey, SeenStatus[]>();
    for (const status of [...statuses, ...kept]) {
      if (status.source === undefined) continue;
      byClass.set(status.source, [...(byClass.get(status.source) ?? []), status]);
    }
    return byClass;
  }

  /** Undefined if nothing tells which versions the class has. `rv` is that of the newest status that changed it. */
  #listedState(
    key: SourceKey,
    statuses: readonly SeenStatus[],
    row: SourceRow | undefined,
  ): ClassState | undefined {
    const state = this.#states.get(key);
    const present = this.#presentOf(key, row);
    const lastShown = state ? 0 : lastShownAt(statuses, present);
    const isNews = (status: SeenStatus): boolean =>
      state || !row?.exists
        ? hasOwnChange(state?.statuses.get(status.key), status)
        : isNewer(status.rv, row.rv) && (status.shownAt === 0 || status.shownAt >= lastShown);
    const newest = statuses
      .filter((status) => status.hashes.length > 0 && isNews(status))
      .filter((status) => present === undefined || !status.hashes.includes(present.hash))
      .reduce<SeenStatus | undefined>(
        (best, each) => (best && isShownLater(best, each) ? best : each),
        undefined,
      );
    const now = (newest && presentIn(newest)) ?? present;
    const found = now && { ...now, shownAt: lastShownAt(statuses, now) };
    const rv = newest?.rv ?? state?.rv ?? RV_UNKNOWN;
    return found && { present: found, rv, statuses: withMemory(statuses, state) };
  }

  #presentOf(key: SourceKey, row: SourceRow | undefined): Present | undefined {
    const state = this.#states.get(key);
    if (state) return state.present;
    if (!row?.exists || !row.providerClass) return undefined;
    const { markerHash, shownAt = 0 } = row.providerClass;
    return { hash: row.hash, markerHash, shownAt };
  }

  #seen(key: SourceKey, { present, rv, statuses }: ClassState): ObservedSource {
    const object = this.#objects.get(key);
    const showing = [...statuses.values()].filter(({ hashes }) => hashes.includes(present.hash));
    return {
      key,
      rv,
      hash: present.hash,
      modifiedAt: showing.reduce((latest, { modifiedAt }) => Math.max(latest, modifiedAt), 0),
      annotations: object?.annotations ?? NO_ANNOTATIONS,
      providerClass: {
        markerHash: present.markerHash,
        rv: object?.rv ?? RV_UNKNOWN,
        shownAt: present.shownAt,
      },
    };
  }
}

function presentIn({ hashes: [hash], markerHash, shownAt }: SeenStatus): Present | undefined {
  return hash === undefined ? undefined : { hash, markerHash, shownAt };
}

/** When what was present was last shown, by what is known of it and by the statuses that still show it. */
function lastShownAt(statuses: readonly SeenStatus[], present: Present | undefined): number {
  if (!present) return 0;
  return statuses
    .filter(({ hashes }) => hashes.includes(present.hash))
    .reduce((latest, { shownAt }) => Math.max(latest, shownAt), present.shownAt);
}

/** Whether `one` tells of a later time than `other`. */
function isShownLater(one: SeenStatus, other: SeenStatus): boolean {
  const isTimed = one.shownAt !== 0 && other.shownAt !== 0 && one.shownAt !== other.shownAt;
  return isTimed ? one.shownAt > other.shownAt : isNewer(one.rv, other.rv);
}

function hasOwnChange(before: SeenStatus | undefined, now: SeenStatus): boolean {
  return before?.hashes[0] !== now.hashes[0];
}

/** A status that shows nothing for a moment is remembered by what it showed before. */
function withMemory(statuses: readonly SeenStatus[], state: ClassState | undefined): Map<string, SeenStatus> {
  const held = statuses.map((status) => {
    const before = state?.statuses.get(status.key);
    return [status.key, status.hashes.length === 0 && before ? before : status] as const;
  });
  return new Map(held);
}
