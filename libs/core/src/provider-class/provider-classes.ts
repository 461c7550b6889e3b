import type { SourceKey } from '../model.ts';
import { NO_ANNOTATIONS, type ObservedSource, type SourceRow } from '../state/rows.ts';
import type { RecordHash } from '../record/record-hash.ts';
import { RV_UNKNOWN, isNewer, maxRv, type Rv } from '../rv.ts';
import type { SeenStatus } from './observe-status.ts';

export interface StatusList {
  readonly statuses: readonly SeenStatus[];
  /** Keys of statuses that exist but could not be read; what was known of them stays. */
  readonly unread: ReadonlySet<string>;
  /** The rows of the classes in scope, from the cluster state or, for the first list, from the catalog. */
  readonly rows: ReadonlyMap<SourceKey, SourceRow>;
}

/** The classes after a list of statuses. */
export interface ListedClasses {
  /** The state at the list. A class with unchanged versions has the resourceVersion of its row. */
  readonly listed: readonly ObservedSource[];
  /** The position of each class after the list: the versions stay, and the resourceVersion advances. */
  readonly advanced: readonly ObservedSource[];
}

interface Present {
  readonly hash: RecordHash;
  /** See `ProviderClassFacts`. */
  readonly otherHashes: readonly RecordHash[];
  readonly markerHash: string;
  /** Unix seconds of the last write of a status that shows it; 0: not known. */
  readonly shownAt: number;
}

interface ClassState {
  present: Present;
  /** The resourceVersion of the last event of any of its statuses; all earlier events are included. */
  rv: Rv;
  statuses: Map<string, SeenStatus>;
}

/**
 * Derives the present versions of a class from what single pods have mounted (SecretProviderClassPodStatus).
 *
 * Pods rotate one after the other, at any pace. So a status shows a change only when *its own* versions change, or when its pod has
 * just mounted: the provider has these versions now, and they become the class's. A status that still exists with older versions
 * says nothing, even if it is written, and neither does a deleted one.
 *
 * After a gap without memory, the status that the driver wrote last decides. A status that lingers was written before, even if its
 * metadata was written later. Within one second, or without times, the resourceVersion decides; in doubt the workload is reloaded.
 *
 * A pure state machine; one for each stream of statuses.
 */
export class ProviderClasses {
  readonly #states = new Map<SourceKey, ClassState>();
  /** The SecretProviderClass objects, for their annotations. */
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
      const before = this.#presentOf(key, row)?.hash;
      const isKept = row !== undefined && before !== undefined && isOf(state.present, before);
      const rv = isKept ? row.rv : state.rv;
      this.#states.set(key, state);
      listed.push({ ...this.#seen(key, state), rv });
      state.rv = statuses.reduce((newest, status) => maxRv(newest, status.rv), maxRv(state.rv, rv));
      if (isNewer(state.rv, rv)) advanced.push(this.#seen(key, state));
    }
    this.#forget((key) => !byClass.has(key) && !this.#objects.has(key));
    return { listed, advanced };
  }

  /** Returns the class after a live write of a status; undefined if the status says nothing. */
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

  /** Takes every SecretProviderClass in scope. Returns those with known versions. */
  classesListed(objects: readonly ObservedSource[], unread: ReadonlySet<string>): ObservedSource[] {
    for (const key of this.#objects.keys()) if (!unread.has(key)) this.#objects.delete(key);
    for (const seen of objects) this.#objects.set(seen.key, seen);
    return [...this.#states].map(([key, state]) => this.#seen(key, state));
  }

  /** Returns the class with its current annotations; undefined while its versions are not known. */
  classWritten(seen: ObservedSource): ObservedSource | undefined {
    this.#objects.set(seen.key, seen);
    const state = this.#states.get(seen.key);
    return state && this.#seen(seen.key, state);
  }

  /** The versions stay known while a pod has the class mounted, and until the next list. */
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
      const known = byClass.get(status.source);
      if (known) known.push(status);
      else byClass.set(status.source, [status]);
    }
    return byClass;
  }

  /** Undefined if nothing shows the versions of the class. `rv` is that of the newest status that changed it. */
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
    const now = (newest && presentIn(newest)) ?? underCurrentKey(present, statuses);
    const found = now && { ...now, shownAt: lastShownAt(statuses, now) };
    const rv = newest?.rv ?? state?.rv ?? RV_UNKNOWN;
    return found && { present: found, rv, statuses: withMemory(statuses, state) };
  }

  #presentOf(key: SourceKey, row: SourceRow | undefined): Present | undefined {
    const state = this.#states.get(key);
    if (state) return state.present;
    if (!row?.exists || !row.providerClass) return undefined;
    const { markerHash, shownAt = 0, otherHashes = [] } = row.providerClass;
    return { hash: row.hash, otherHashes, markerHash, shownAt };
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
        ...(present.otherHashes.length > 0 ? { otherHashes: present.otherHashes } : {}),
      },
    };
  }
}

function presentIn({ hashes: [hash, ...otherHashes], markerHash, shownAt }: SeenStatus): Present | undefined {
  return hash === undefined ? undefined : { hash, otherHashes, markerHash, shownAt };
}

function isOf({ hash, otherHashes }: Present, other: RecordHash): boolean {
  return hash === other || otherHashes.includes(other);
}

/** A row of the catalog may have the hash under an earlier key. What still shows these versions has the one under the current key. */
function underCurrentKey(present: Present | undefined, statuses: readonly SeenStatus[]): Present | undefined {
  const showing = present && statuses.find(({ hashes }) => hashes.includes(present.hash));
  const current = showing && presentIn(showing);
  return current ? { ...current, shownAt: present.shownAt } : present;
}

/** Returns when the present versions were last shown, by what is known and by the statuses that still show them. */
function lastShownAt(statuses: readonly SeenStatus[], present: Present | undefined): number {
  if (!present) return 0;
  return statuses
    .filter(({ hashes }) => hashes.includes(present.hash))
    .reduce((latest, { shownAt }) => Math.max(latest, shownAt), present.shownAt);
}

/** Whether `one` was shown later than `other`. */
function isShownLater(one: SeenStatus, other: SeenStatus): boolean {
  const isTimed = one.shownAt !== 0 && other.shownAt !== 0 && one.shownAt !== other.shownAt;
  return isTimed ? one.shownAt > other.shownAt : isNewer(one.rv, other.rv);
}

/** Whether its versions changed, or its pod has just mounted them; the pods of a StatefulSet keep the names of their statuses. */
function hasOwnChange(before: SeenStatus | undefined, now: SeenStatus): boolean {
  return before?.uid !== now.uid || before.hashes[0] !== now.hashes[0];
}

/** A status that shows nothing for a moment keeps what it showed before. */
function withMemory(statuses: readonly SeenStatus[], state: ClassState | undefined): Map<string, SeenStatus> {
  const held = statuses.map((status) => {
    const before = state?.statuses.get(status.key);
    return [status.key, status.hashes.length === 0 && before ? before : status] as const;
  });
  return new Map(held);
}
