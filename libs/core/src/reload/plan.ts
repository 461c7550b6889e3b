import { isUnverified, pendingFor } from '../state/pending.ts';
import type { PendingCause } from '../state/outbox.ts';
import type { SourceName, SourceRow, WorkloadRow } from '../state/rows.ts';
import { isSameOwner, type TemplateOwner } from '../state/workloads/template-owner.ts';
import { recordedHashes, type RecordedHashes } from '../record/record.ts';
import { DELETED_HASH, isSameScheme, type RecordHash } from '../record/record-hash.ts';
import { compareRv, isNewer, type Rv } from '../rv.ts';

/** The result of a quorum read of a source. */
export interface SourceReading {
  readonly rv: Rv;
  /** Under the current scheme. */
  readonly hash: RecordHash;
  /** Whether the record's entry, under its own scheme, is the hash of the data that was read. */
  readonly isRecorded: boolean;
  /** The entry has a key that other workers may have but this one does not, so it cannot compare. */
  readonly isKeyAwaited?: boolean;
  /**
   * Whether the source was read after the workload. An older reading, by the leader or another worker, may justify a reload,
   * because the leader has checked it against the present, but never a correction of the record.
   */
  readonly afterWorkload: boolean;
}

/** A dependency of the workload as read now. */
export interface DependencyFacts {
  readonly name: SourceName;
  /** The catalog's row of the source. */
  readonly row: SourceRow | undefined;
  /** `undefined`: not read; `null`: the source does not exist. */
  readonly reading: SourceReading | null | undefined;
  /** The marker in the pod template matches the reading, which proves what the pods run. */
  readonly isMarked: boolean;
  /**
   * The source was read and does not exist, and a patch can show that: with the env-vars strategy, a container has its variable,
   * which can be removed.
   */
  readonly showsDeletion?: boolean;
}

export interface PlanInput {
  readonly workload: {
    readonly uid: string;
    readonly generation: number;
    /** As read. Default: not compared with the row. */
    readonly rv?: Rv | undefined;
    readonly record: string | undefined;
    /** See `ObservedWorkload`. */
    readonly templateOwner?: TemplateOwner | undefined;
  };
  /** The catalog's row of the workload. */
  readonly row: WorkloadRow | undefined;
  readonly dependencies: readonly DependencyFacts[];
  /** What to do with a dependency if nothing shows whether the pods run the current data. */
  readonly adoptStale: 'report' | 'reload';
  /** `--reload-on-delete`. Default: a deletion reloads nothing. */
  readonly onDelete?: boolean;
  /** How the workload refers to a source. Default: by name, for every source. */
  readonly mentionOf?: (name: SourceName) => Mention;
  /**
   * The catalog's rows of the other workloads that share the record; undefined for one that is not in the catalog. Default: none. Only
   * needed if no pods are replaced: a rollout is one of all of them.
   */
  readonly sharers?: readonly (WorkloadRow | undefined)[] | undefined;
}

/** `name`: the workload uses or mentions the source, or its annotations name it literally. `pattern`: only a pattern matches it. */
export type Mention = 'name' | 'pattern' | 'none';

/**
 * What to do about one dependency.
 * - `InStep`: the record agrees with the source. `Absent`: the source does not exist.
 * - `Read`: the source must be read to decide.
 * - `Wait`: the catalog is behind the read; the leader's own event enqueues the workload again.
 * - `Correct`: the pods have the data, and only the record is behind. `Adopt`: the same without a record. `AdoptStale`: without a
 *   record, and nothing shows whether the pods have the data.
 * - `Shared`: one of those before or `Rewrite`, but another workload that shares the record has, or may have, a reload pending for the
 *   source.
 * - `Rewrite`: the record agrees under an older hash scheme.
 * - `KeyUnknown`: it seems pending, but only a worker with the record's key can tell.
 * - `Roll`: the pods must be replaced.
 */
export type DependencyVerdict =
  | 'InStep'
  | 'Absent'
  | 'Read'
  | 'Wait'
  | 'Correct'
  | 'Adopt'
  | 'AdoptStale'
  | 'Shared'
  | 'Rewrite'
  | 'KeyUnknown'
  | 'Roll';

export interface Plan {
  readonly verdicts: ReadonlyMap<SourceName, DependencyVerdict>;
  /** Sources for which the pods are replaced, in the order of the dependencies. Empty: no rollout. */
  readonly roll: readonly SourceName[];
  /** The record to write, or `null` to leave it unchanged. */
  readonly hashes: RecordedHashes | null;
}

/** Decides what one patch does for everything that is pending for a workload. */
export function planReload(input: PlanInput): Plan {
  const record = recordedHashes(input.workload.record);
  const verdicts = new Map<SourceName, DependencyVerdict>();
  const written: Record<SourceName, RecordHash> = {};
  const roll: SourceName[] = [];
  const sharers = (input.sharers ?? []).map(sharerOf);
  for (const dependency of input.dependencies) {
    const verdict = sharedVerdict(dependency, record[dependency.name], { input, sharers });
    verdicts.set(dependency.name, verdict);
    if (verdict === 'Roll') roll.push(dependency.name);
    if (WRITES.has(verdict)) written[dependency.name] = dependency.reading?.hash ?? DELETED_HASH;
  }
  // The record is copied only if it is written: many plans are of one dependency, to tell its verdict.
  const changed = Object.keys(written).some((name) => written[name] !== record[name]);
  const hashes = changed || roll.length > 0 ? withoutDead({ ...record, ...written }, input, sharers) : null;
  return { verdicts, roll, hashes };
}

/**
 * Drops entries that the workload no longer refers to, but only when the record is written anyway. Adding a name writes the record,
 * so dead entries never outnumber the dependencies at the last write.
 */
function withoutDead(hashes: RecordedHashes, input: PlanInput, sharers: Sharers): RecordedHashes {
  const { mentionOf } = input;
  if (!mentionOf) return hashes;
  const dependencies = new Map(input.dependencies.map((dependency) => [dependency.name, dependency]));
  const isAlive = (name: SourceName): boolean => {
    if (sharers.some((sharer) => dependsOn(sharer, name))) return true;
    const mention = mentionOf(name);
    return (
      mention === 'name' || (mention === 'pattern' && !isGoneFor(dependencies.get(name), presentRow(input)))
    );
  };
  return Object.fromEntries(Object.entries(hashes).filter(([name]) => isAlive(name)));
}

/**
 * Whether the source was deleted before the pods began. Its entry can then go: if the source comes back, its data is not newer than
 * the pod template, or dates from its creation if creations count.
 */
function isGoneFor(dependency: DependencyFacts | undefined, row: WorkloadRow | undefined): boolean {
  const source = dependency?.row;
  return (
    source?.exists === false &&
    !dependency?.reading &&
    row !== undefined &&
    !isNewer(source.rv, row.templateRv)
  );
}

const WRITES: ReadonlySet<DependencyVerdict> = new Set(['Correct', 'Adopt', 'AdoptStale', 'Rewrite', 'Roll']);
/** The verdicts for a sharer of the record that has a reload pending, or may have. */
const NEEDS_ENTRY: ReadonlySet<DependencyVerdict> = new Set(['Roll', 'KeyUnknown', 'Wait']);

/** Another workload that shares the record. Undefined: the catalog does not know it yet. */
type Sharer =
  | {
      readonly row: WorkloadRow;
      readonly dependencies: ReadonlySet<SourceName>;
      readonly unverified: ReadonlySet<SourceName>;
    }
  | undefined;
type Sharers = readonly Sharer[];

function sharerOf(row: WorkloadRow | undefined): Sharer {
  return row && { row, dependencies: new Set(row.dependencies), unverified: new Set(row.unverified) };
}

function dependsOn(sharer: Sharer, name: SourceName): boolean {
  return sharer?.dependencies.has(name) ?? true;
}

/** A correction waits if a sharer of the record has a reload pending, which would no longer be if the entry had the present data. */
function sharedVerdict(
  dependency: DependencyFacts,
  recorded: RecordHash | undefined,
  { input, sharers }: { input: PlanInput; sharers: Sharers },
): DependencyVerdict {
  const verdict = dependencyVerdict(dependency, recorded, input);
  if (verdict === 'Roll' || !WRITES.has(verdict)) return verdict;
  const isNeeded = (sharer: Sharer): boolean =>
    dependsOn(sharer, dependency.name) &&
    NEEDS_ENTRY.has(dependencyVerdict(dependency, recorded, inputFor(sharer, dependency.name, input)));
  return sharers.some(isNeeded) ? 'Shared' : verdict;
}

/** To judge one dependency of the sharer, which was not read; the owner of the template was. */
function inputFor(sharer: Sharer, name: SourceName, input: PlanInput): PlanInput {
  const { uid = '', generation = 0, rv } = sharer?.row ?? {};
  const row = sharer && { ...sharer.row, unverified: sharer.unverified.has(name) ? [name] : [] };
  return { ...input, row, workload: { ...input.workload, uid, generation, rv } };
}

function dependencyVerdict(
  dependency: DependencyFacts,
  recorded: RecordHash | undefined,
  input: PlanInput,
): DependencyVerdict {
  if (input.onDelete && dependency.row?.exists === false)
    return deletionVerdict(dependency, recorded, { row: presentRow(input), deletedAt: dependency.row.rv });
  return dependency.reading === null ? 'Absent' : dataVerdict(dependency, recorded, input);
}

function dataVerdict(
  dependency: DependencyFacts,
  recorded: RecordHash | undefined,
  input: PlanInput,
): DependencyVerdict {
  const { reading } = dependency;
  const row = presentRow(input);
  const unverified = row !== undefined && isUnverified(row, dependency.name);
  if (!reading?.afterWorkload) return verdictUnread(dependency, recorded, { row, unverified });
  if (!row || !isDated(dependency, recorded, row)) return 'Wait';
  if (reading.isRecorded && !unverified) return recorded === reading.hash ? 'InStep' : 'Rewrite';
  const verdict = judge(dependency, reading, { row, recorded, adoptStale: input.adoptStale });
  // An unverified entry never counts as equal.
  return unverified ? verdict : unlessLeftToOthers(verdict, reading);
}

function unlessLeftToOthers(verdict: DependencyVerdict, { isKeyAwaited }: SourceReading): DependencyVerdict {
  return verdict === 'Roll' && isKeyAwaited === true ? 'KeyUnknown' : verdict;
}

/** Judges a source that the leader saw deleted. The deletion counts only if a read finds no source either. */
function deletionVerdict(
  dependency: DependencyFacts,
  recorded: RecordHash | undefined,
  { row, deletedAt }: { row: WorkloadRow | undefined; deletedAt: Rv },
): DependencyVerdict {
  if (recorded === DELETED_HASH) return 'Absent';
  const { name } = dependency;
  const deletion = { name, recorded, exists: false, hash: DELETED_HASH, since: deletedAt };
  const pending = row && pendingFor(row, deletion);
  if (pending === null || (pending === undefined && recorded === undefined)) return 'Absent';
  return dependency.reading === null
    ? verdictOfAbsent(dependency, pending)
    : unlessItIsThere(dependency.reading);
}

function verdictOfAbsent(
  { showsDeletion }: DependencyFacts,
  pending: PendingCause | undefined,
): DependencyVerdict {
  if (!showsDeletion) return 'Absent';
  if (pending === undefined) return 'Wait';
  return pending === 'owed' ? 'Roll' : 'Correct';
}

/** If the source exists, it is back, and the leader's own event will say so; or it only left the watched scope. */
function unlessItIsThere(reading: SourceReading | undefined): DependencyVerdict {
  return reading?.afterWorkload ? 'Wait' : 'Read';
}

/** Judges by the catalog alone, perhaps with an older reading. */
function verdictUnread(
  dependency: DependencyFacts,
  recorded: RecordHash | undefined,
  at: { row: WorkloadRow | undefined; unverified: boolean },
): DependencyVerdict {
  const source = dependency.row;
  if (source?.exists === false) return 'Absent';
  if (source && recorded === source.hash && !at.unverified) return 'InStep';
  if (!at.row || !isDated(dependency, recorded, at.row)) return 'Wait';
  return isKnownPending(dependency, at.row, recorded) ? 'Roll' : 'Read';
}

/**
 * Whether the leader reports the dependency as pending and the hashes are those of the very write that the leader saw. Not for a source
 * that is not watched: it is read, because its labels may be back. Hashes of different schemes may be of the same data, so the source is
 * then read: the record may have an older scheme, or the leader may have another key than when the hashes were left.
 */
function isKnownPending(
  { row, reading, name }: DependencyFacts,
  workload: WorkloadRow,
  recorded: RecordHash | undefined,
): boolean {
  if (row?.isUnwatched) return false;
  if (row === undefined || reading?.rv !== row.rv || reading.hash !== row.hash) return false;
  if (recorded !== undefined && !isSameScheme(recorded, reading.hash)) return false;
  const { hash } = reading;
  if (recorded === hash) return false;
  const { dataRv: since, returned } = row;
  return pendingFor(workload, { name, recorded, exists: true, hash, since, returned }) === 'owed';
}

/** Whether the catalog dates the dependency. */
function isDated(dependency: DependencyFacts, recorded: RecordHash | undefined, row: WorkloadRow): boolean {
  return recorded !== undefined || dependency.name in row.baselines;
}

/** Judges by the write that was read and by the catalog. If the dependency is pending only by the write, the leader is behind. */
function judge(
  dependency: DependencyFacts,
  reading: SourceReading,
  by: { row: WorkloadRow; recorded: RecordHash | undefined; adoptStale: 'report' | 'reload' },
): DependencyVerdict {
  const { name, row: source } = dependency;
  const { row, recorded } = by;
  // Under the scheme of the entry.
  const hash = (reading.isRecorded ? recorded : undefined) ?? reading.hash;
  const isPendingSince = (since: Rv, returned?: boolean): boolean =>
    pendingFor(row, { name, recorded, exists: true, hash, since, returned }) === 'owed';
  if (isPendingSince(reading.rv)) {
    if (source && isPendingSince(source.dataRv, source.returned)) return 'Roll';
    if (!source || compareRv(source.rv, reading.rv) < 0) return 'Wait';
  }
  return recorded === undefined ? verdictOfUnrecorded(dependency, by) : 'Correct';
}

function verdictOfUnrecorded(
  { name, isMarked }: DependencyFacts,
  { row, adoptStale }: { row: WorkloadRow; adoptStale: 'report' | 'reload' },
): DependencyVerdict {
  if (isMarked || !row.stale.includes(name)) return 'Adopt';
  return adoptStale === 'reload' ? 'Roll' : 'AdoptStale';
}

/**
 * Returns the catalog's row if it describes the generation of workload and template owner that were read. A row that is newer than
 * the read belongs to a later write, which the leader judges, or to a time before etcd was restored.
 */
function presentRow({ row, workload }: PlanInput): WorkloadRow | undefined {
  if (row !== undefined && isNewer(row.rv, workload.rv ?? row.rv)) return undefined;
  const isPresent = row?.uid === workload.uid && row.generation === workload.generation;
  return isPresent && isSameOwner(row.templateOwner, workload.templateOwner) ? row : undefined;
}
