import { pendingFor } from '../state/pending.ts';
import type { PendingCause } from '../state/outbox.ts';
import type { SourceName, SourceRow, WorkloadRow } from '../state/rows.ts';
import { isSameOwner, type TemplateOwner } from '../state/workloads/template-owner.ts';
import { recordedHashes, type RecordedHashes } from '../record/record.ts';
import { DELETED_HASH, isSameScheme, type RecordHash } from '../record/record-hash.ts';
import { compareRv, isNewer, type Rv } from '../rv.ts';

/** What a quorum read of a source gave. */
export interface SourceReading {
  readonly rv: Rv;
  /** Under today's scheme. */
  readonly hash: RecordHash;
  /** Whether the record's entry, under the scheme that it names, is the hash of what was read. */
  readonly isRecorded: boolean;
  /** The entry is under a key that this worker does not have and others may: it cannot tell whether it agrees. */
  readonly isKeyAwaited?: boolean;
  /**
   * Read after the workload was. An older reading (a colleague's, of the same change) may be used to roll,
   * which the leader checks against the present, but never to write off a difference.
   */
  readonly afterWorkload: boolean;
}

/** One dependency of the workload as read now. */
export interface DependencyFacts {
  readonly name: SourceName;
  /** The catalog's row of the source. */
  readonly row: SourceRow | undefined;
  /** `undefined`: not read; `null`: it does not exist. */
  readonly reading: SourceReading | null | undefined;
  /** The marker in the pod template is that of the reading: proof of what the pods run. */
  readonly isMarked: boolean;
  /**
   * It was read, does not exist, and a patch can show that: under the env-vars strategy a container carries
   * its variable, which can be taken away.
   */
  readonly showsDeletion?: boolean;
}

export interface PlanInput {
  readonly workload: {
    readonly uid: string;
    readonly generation: number;
    /** As it was read. Default: the row is not compared with it. */
    readonly rv?: Rv | undefined;
    readonly record: string | undefined;
    /** See `ObservedWorkload`. */
    readonly templateOwner?: TemplateOwner | undefined;
  };
  /** The catalog's row of the workload. */
  readonly row: WorkloadRow | undefined;
  readonly dependencies: readonly DependencyFacts[];
  /** What to do with a dependency of which nothing tells whether the pods run the present data. */
  readonly adoptStale: 'report' | 'reload';
  /** `--reload-on-delete`. Default: a deletion rolls nothing. */
  readonly onDelete?: boolean;
  /** How the workload, as it was read, speaks of a source. Default: by its name, of each. */
  readonly mentionOf?: (name: SourceName) => Mention;
}

/** `name`: it uses or mentions the source, or its annotations spell it out. `pattern`: only a pattern means it. */
export type Mention = 'name' | 'pattern' | 'none';

/**
 * What is to be done about one dependency.
 * - `InStep`: the record agrees with the source. `Absent`: the source does not exist.
 * - `Read`: the source has to be read to tell.
 * - `Wait`: the catalog is behind what was read; the leader's own event enqueues the workload again.
 * - `Correct`: the pods have the data, only the record is behind. `Adopt`: the same, for a dependency without a
 *   record. `AdoptStale`: without a record, and nothing tells whether the pods have the data.
 * - `Rewrite`: the record agrees under an older scheme of hashing.
 * - `KeyUnknown`: as far as this worker can tell it is pending, but only one with the record's key can tell.
 * - `Roll`: pending.
 */
export type DependencyVerdict =
  | 'InStep'
  | 'Absent'
  | 'Read'
  | 'Wait'
  | 'Correct'
  | 'Adopt'
  | 'AdoptStale'
  | 'Rewrite'
  | 'KeyUnknown'
  | 'Roll';

export interface Plan {
  readonly verdicts: ReadonlyMap<SourceName, DependencyVerdict>;
  /** Sources for which the pods are to be replaced, in the order of the dependencies. Empty: no rollout. */
  readonly roll: readonly SourceName[];
  /** The record to write, or `null` if it stays as it is. */
  readonly hashes: RecordedHashes | null;
}

/** What one patch does for everything that is pending for a workload. */
export function planReload(input: PlanInput): Plan {
  const record = recordedHashes(input.workload.record);
  const verdicts = new Map<SourceName, DependencyVerdict>();
  const hashes: Record<SourceName, RecordHash> = { ...record };
  const roll: SourceName[] = [];
  for (const dependency of input.dependencies) {
    const verdict = dependencyVerdict(dependency, record[dependency.name], input);
    verdicts.set(dependency.name, verdict);
    if (verdict === 'Roll') roll.push(dependency.name);
    if (WRITES.has(verdict)) hashes[dependency.name] = dependency.reading?.hash ?? DELETED_HASH;
  }
  const changed = Object.keys(hashes).some((name) => hashes[name] !== record[name]);
  return { verdicts, roll, hashes: changed || roll.length > 0 ? withoutDead(hashes, input) : null };
}

/**
 * Without what the workload speaks of no more. Only dropped when the record is written anyway: whatever adds a name
 * writes it, so no more dead names can be in it than it had dependencies at its last write.
 */
function withoutDead(hashes: RecordedHashes, input: PlanInput): RecordedHashes {
  const { mentionOf } = input;
  if (!mentionOf) return hashes;
  const dependencies = new Map(input.dependencies.map((dependency) => [dependency.name, dependency]));
  const isAlive = (name: SourceName): boolean => {
    const mention = mentionOf(name);
    return (
      mention === 'name' || (mention === 'pattern' && !isGoneFor(dependencies.get(name), presentRow(input)))
    );
  };
  return Object.fromEntries(Object.entries(hashes).filter(([name]) => isAlive(name)));
}

/**
 * Whether the source was deleted before the pods began. Nothing is lost with its entry then: should the source come
 * back, its data is either not newer than the pod template, or dates from its creation, if that counts.
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
  const unverified = row !== undefined && row.unverified.includes(dependency.name);
  if (!reading?.afterWorkload) return verdictUnread(dependency, recorded, { row, unverified });
  if (!row || !isDated(dependency, recorded, row)) return 'Wait';
  if (reading.isRecorded && !unverified) return recorded === reading.hash ? 'InStep' : 'Rewrite';
  const verdict = judge(dependency, reading, { row, recorded, adoptStale: input.adoptStale });
  // An unverified entry is never equal, whatever it says.
  return unverified ? verdict : unlessLeftToOthers(verdict, reading);
}

function unlessLeftToOthers(verdict: DependencyVerdict, { isKeyAwaited }: SourceReading): DependencyVerdict {
  return verdict === 'Roll' && isKeyAwaited === true ? 'KeyUnknown' : verdict;
}

/** Of a source that the leader saw deleted. It counts only if a read finds none either. */
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

/** If it is there, it is back, which the leader's own event will say, or only out of what is watched. */
function unlessItIsThere(reading: SourceReading | undefined): DependencyVerdict {
  return reading?.afterWorkload ? 'Wait' : 'Read';
}

/** What the catalog alone can tell, with perhaps an older reading. */
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
 * The leader says that it is pending, and what a colleague read is the very write that the leader saw. A record
 * under an older scheme may be of the same data: whoever reads that can tell. So may one under the scheme of the
 * workers, while the leader still has the key of before.
 */
function isKnownPending(
  { row, reading, name }: DependencyFacts,
  workload: WorkloadRow,
  recorded: RecordHash | undefined,
): boolean {
  if (row === undefined || reading?.rv !== row.rv) return false;
  if (recorded !== undefined && !isSameScheme(recorded, reading.hash)) return false;
  const { hash } = reading;
  if (recorded === hash) return false;
  return pendingFor(workload, { name, recorded, exists: true, hash, since: row.dataRv }) === 'owed';
}

/** Whether the catalog tells from when on the dependency counts. */
function isDated(dependency: DependencyFacts, recorded: RecordHash | undefined, row: WorkloadRow): boolean {
  return recorded !== undefined || dependency.name in row.baselines;
}

/** Whether it is pending by the write that was read and by what the leader knows; if only by that write, the leader is behind. */
function judge(
  dependency: DependencyFacts,
  reading: SourceReading,
  by: { row: WorkloadRow; recorded: RecordHash | undefined; adoptStale: 'report' | 'reload' },
): DependencyVerdict {
  const { name, row: source } = dependency;
  const { row, recorded } = by;
  // Under the scheme of the entry.
  const hash = (reading.isRecorded ? recorded : undefined) ?? reading.hash;
  const isPendingSince = (since: Rv): boolean =>
    pendingFor(row, { name, recorded, exists: true, hash, since }) === 'owed';
  if (isPendingSince(reading.rv)) {
    if (source && isPendingSince(source.dataRv)) return 'Roll';
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
 * The catalog's row of the workload, if it is of the very generation that was read, and so is its template's owner. A
 * row that is newer than what was read is of a write right after, of which the leader judges, or of a time before etcd
 * was restored.
 */
function presentRow({ row, workload }: PlanInput): WorkloadRow | undefined {
  if (row !== undefined && isNewer(row.rv, workload.rv ?? row.rv)) return undefined;
  const isPresent = row?.uid === workload.uid && row.generation === workload.generation;
  return isPresent && isSameOwner(row.templateOwner, workload.templateOwner) ? row : undefined;
}
