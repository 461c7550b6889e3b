import { recordedHashes, type RecordedHashes } from '../../record/record.ts';
import type { Reason } from '../../reasons.ts';
import { RV_UNKNOWN, isNewer, maxRv, type Rv } from '../../rv.ts';
import {
  NO_BASELINES,
  NO_NAMES,
  sameLists,
  type ObservedWorkload,
  type SourceName,
  type SourceRow,
  type WorkloadRow,
} from '../rows.ts';
import { work } from '../../work.ts';
import { among } from '../among.ts';
import type { DependencyMove } from '../dependencies/dependency-judging.ts';
import { conflictAfter } from './conflict.ts';
import { compact } from '../dependencies/dependencies.ts';
import {
  isDecidedBefore,
  isRecordedBefore,
  knownUpTo,
  rolledAfter,
  templateWriteSeen,
  writeSeen,
} from './template-owner.ts';
import { areComparable, isSameTemplate } from './template-form.ts';
import type { Triggers } from '../settings.ts';

/** The context of a sighting of a workload. */
export interface Sighting {
  /** True if the stream showed it right after the write; false if a list did. */
  readonly live: boolean;
  /** The row in the cluster state or, for a list of unknown workloads, in the catalog. */
  readonly known: WorkloadRow | undefined;
  /** The dependencies by the rules, as of now. */
  readonly dependencies: readonly SourceName[];
  /** The position of the streams of sources when the list of workloads was requested. */
  readonly sourcesRv: Rv;
  /** When this install adopted the cluster, in Unix seconds; infinite if this list adopts the workload. */
  readonly adoptedAt: number;
  /** Whether the row is that of a leader with another scope, which may have had other dependencies. Default false. */
  readonly isScopeNew?: boolean;
  readonly triggers: Triggers;
  /** Dates the dependencies that this sighting finds, if an earlier sighting was not fully judged. */
  readonly earlier?: DependencyBeginning | undefined;
  readonly sourceOf: (name: SourceName) => SourceRow | undefined;
}

interface TemplateFacts {
  readonly templateRv: Rv;
  readonly unverified: readonly SourceName[];
}

export function workloadRow(seen: ObservedWorkload, at: Sighting): WorkloadRow {
  const known = at.known?.uid === seen.uid ? at.known : undefined;
  const missing = missingTemplate(seen);
  if (known && missing) return withoutTemplate(known, seen, missing);
  return rowOf(seen, { ...at, known });
}

function rowOf(seen: ObservedWorkload, sighting: Sighting): WorkloadRow {
  const { known, dependencies, live } = sighting;
  const facts = templateFacts(seen, sighting);
  const { key: _key, kind: _kind, namespace: _namespace, writtenAt: _writtenAt, ...rest } = seen;
  const latest = Math.max(seen.restartAt ?? 0, known?.restartAt ?? 0);
  const restartAt = latest === 0 ? {} : { restartAt: latest };
  // A catalog that is ahead of the list has already counted what the stream will show.
  const conflict = known && !isNewer(known.rv, seen.rv) ? conflictAfter(known, seen, live) : undefined;
  return {
    ...rest,
    ...restartAt,
    dependencies,
    ...facts,
    ...baselines(seen, sighting),
    ...(conflict ? { conflict } : {}),
  };
}

function missingTemplate({ leftAlone }: ObservedWorkload): Reason | undefined {
  return leftAlone === 'WorkloadRefMissing' || leftAlone === 'TooManyRollouts' ? leftAlone : undefined;
}

/**
 * Keeps what was known of the template and the record when a workload loses its template. It is not reloaded meanwhile; the next
 * template is compared with the kept one.
 */
function withoutTemplate(known: WorkloadRow, seen: ObservedWorkload, leftAlone: Reason): WorkloadRow {
  const { rv, generation, annotations, excess } = seen;
  const none = { dependencies: NO_NAMES, baselines: NO_BASELINES, stale: NO_NAMES };
  return { ...known, rv, generation, annotations, excess, leftAlone, ...none };
}

/** The data of a source from a resourceVersion on. */
export interface DataState {
  readonly from: Rv;
  /** null if the source did not exist; undefined if not known. */
  readonly hash: string | null | undefined;
}

export function stateOf({ exists, dataRv, rv, hash }: SourceRow): DataState {
  return exists ? { from: dataRv, hash } : { from: rv, hash: null };
}

/**
 * Returns the row after the source `name` had these states (earliest first), of which those up to the template count. Streams of
 * sources and of workloads are not ordered, so a patch can be seen before the change that caused it. The same object if nothing
 * changes.
 */
export function verifiedBySource(
  row: WorkloadRow,
  name: SourceName,
  states: readonly DataState[],
): WorkloadRow {
  const recorded = recordedHashes(row.record)[name];
  const atTemplate = states.findLast(({ from }) => !isNewer(from, row.templateRv));
  if (recorded === undefined || !atTemplate) return row;
  const others = row.unverified.filter((other) => other !== name);
  const unverified = compact(atTemplate.hash === recorded ? others : [...others, name]);
  return unverified === row.unverified ? row : { ...row, unverified };
}

/**
 * Returns the resourceVersion at which a dependency without a record began, and whether it is stale: nothing shows whether the pods
 * run the current data.
 */
export type DependencyBeginning = (name: SourceName) => {
  readonly rv: Rv;
  readonly stale?: boolean | undefined;
};

/**
 * Returns the row with `begun` added to its dependencies and `ended` removed. `begun` must be absent from the row, `ended` present.
 */
export function withDependencies(
  row: WorkloadRow,
  { begun, ended, begin }: Omit<DependencyMove, 'workload'>,
): WorkloadRow {
  work.dependencyNames += row.dependencies.length + begun.length;
  const isEnded = among(ended);
  const dependencies = [...row.dependencies.filter((name) => !isEnded(name)), ...begun];
  const kept = Object.entries(row.baselines).filter(([name]) => !isEnded(name));
  const stale = row.stale.filter((name) => !isEnded(name));
  const record = recordedHashes(row.record);
  for (const name of begun) {
    if (name in row.baselines || name in record) continue;
    const { rv, stale: isStale } = begin(name);
    kept.push([name, rv]);
    if (isStale) stale.push(name);
  }
  return {
    ...row,
    dependencies: sameLists(dependencies, row.uses) ? row.uses : compact(dependencies),
    baselines: kept.length === 0 ? NO_BASELINES : Object.fromEntries(kept),
    stale: compact(stale),
  };
}

/** Adds a baseline for a dependency that began at `rv`, because its source was created or changed its annotations. */
export function dependencyBegun(row: WorkloadRow, name: SourceName, rv: Rv): WorkloadRow['baselines'] {
  if (name in row.baselines || name in recordedHashes(row.record)) return row.baselines;
  return { ...row.baselines, [name]: rv };
}

/** Returns the row with the baselines of the matching sources moved up to `rv`; the same object if nothing moves. */
export function withBaselinesFrom(
  row: WorkloadRow,
  rv: Rv,
  isMeant: (name: SourceName) => boolean,
): WorkloadRow {
  const all = Object.entries(row.baselines);
  work.dependencyNames += all.length;
  const moved = all.filter(([name, from]) => isNewer(rv, from) && isMeant(name));
  if (moved.length === 0) return row;
  return {
    ...row,
    baselines: { ...row.baselines, ...Object.fromEntries(moved.map(([name]) => [name, rv])) },
  };
}

/**
 * Returns the row with the dependency on a created source dated from when the source was absent: a list of workloads, or another
 * watcher, may have dated it from an earlier position. One without a date stays pending.
 */
export function begunWhileAbsent(row: WorkloadRow, source: SourceName, absentAt: Rv): WorkloadRow {
  const isDated = (name: SourceName): boolean => name === source && row.baselines[name] !== RV_UNKNOWN;
  return withBaselinesFrom(row, absentAt, isDated);
}

function templateFacts(seen: ObservedWorkload, at: Sighting): TemplateFacts {
  const { known, live } = at;
  if (!known) return live ? templateSeen(seen, at) : { templateRv: RV_UNKNOWN, unverified: NO_NAMES };
  const rolled = wasRolled(known, seen);
  if (rolled === 'no') return { templateRv: known.templateRv, unverified: unverifiedKept(seen, known, at) };
  const facts = live ? templateSeen(seen, at) : templateFound(seen, known);
  if (rolled === 'yes') return facts;
  const unverified = [...new Set([...unverifiedKept(seen, known, at), ...facts.unverified])];
  return { templateRv: known.templateRv, unverified: compact(unverified) };
}

/** The sighting directly follows the write. With two streams, one may lag behind the other. */
function templateSeen(seen: ObservedWorkload, at: Sighting): TemplateFacts {
  const templateRv = maxRv(at.known?.templateRv ?? RV_UNKNOWN, templateWriteSeen(seen, at.known));
  return { templateRv, unverified: compact(falseAt(recordedHashes(seen.record), templateRv, at)) };
}

/** The sighting comes from a list, some time after the known row. */
function templateFound(seen: ObservedWorkload, known: WorkloadRow): TemplateFacts {
  const isUnverified = known.record === seen.record || isDecidedBefore(seen);
  return {
    templateRv: maxRv(known.templateRv, rolledAfter(known, seen)),
    unverified: isUnverified ? compact(Object.keys(recordedHashes(seen.record))) : NO_NAMES,
  };
}

/**
 * Returns the unverified entries under an unchanged template: unchanged entries that were unverified, and new ones that were
 * decided before the template, or written before the pods began and wrong when they did.
 */
function unverifiedKept(seen: ObservedWorkload, known: WorkloadRow, at: SightingOf): readonly SourceName[] {
  const record = recordedHashes(seen.record);
  const before = recordedHashes(known.record);
  const wasUnverified = among(known.unverified);
  const isDecided = isDecidedBefore(seen);
  const isEarlier = isRecordedBefore(seen, known, at.live);
  const isFalse = (name: SourceName, hash: string): boolean =>
    isDecided || (isEarlier && falseAt({ [name]: hash }, known.templateRv, at).length > 0);
  const unverified = Object.entries(record).filter(([name, hash]) =>
    hash === before[name] ? wasUnverified(name) : isFalse(name, hash),
  );
  return compact(unverified.map(([name]) => name));
}

/** Whether the template was changed or a later restart was set. `unknown`: the two templates cannot be compared. */
function wasRolled(known: WorkloadRow, seen: ObservedWorkload): 'yes' | 'no' | 'unknown' {
  if ((seen.restartAt ?? 0) > (known.restartAt ?? 0)) return 'yes';
  if (isSameTemplate(known.template, seen.template) || !isRewritten(known, seen)) return 'no';
  return areComparable(known.template, seen.template) ? 'yes' : 'unknown';
}

/** Whether the spec with the template was written, or another owner's template is used. */
function isRewritten(known: WorkloadRow, seen: ObservedWorkload): boolean {
  const [before, now] = [known.templateOwner ?? known, seen.templateOwner ?? seen];
  return before.uid !== now.uid || before.generation !== now.generation;
}

/** Returns the entries of the record that were wrong when the template was written. */
function falseAt(record: RecordedHashes, rv: Rv, { sourceOf, triggers }: SightingOf): SourceName[] {
  return Object.keys(record).filter((name) => {
    const source = sourceOf(name);
    if (source === undefined) return false;
    // Pods that began without the source have none of its data, so its creation counts for them.
    if (triggers.onCreate && !source.exists && !isNewer(source.rv, rv)) return true;
    return source.hash !== record[name] || isNewer(source.dataRv, rv);
  });
}

function baselines(seen: ObservedWorkload, at: Sighting): Pick<WorkloadRow, 'baselines' | 'stale'> {
  const record = recordedHashes(seen.record);
  const unrecorded = at.dependencies.filter((name) => !(name in record));
  if (unrecorded.length === 0) return { baselines: NO_BASELINES, stale: NO_NAMES };
  const found: Record<SourceName, Rv> = {};
  const stale: SourceName[] = [];
  const begin = beginningOf(seen, at);
  for (const name of unrecorded) {
    const begun = begin(name);
    found[name] = begun.rv;
    if (begun.stale) stale.push(name);
  }
  return { baselines: found, stale: compact(stale) };
}

/** Dates the dependencies without a record that a sighting shows, however long it takes to find them. */
export function beginningOf(
  seen: ObservedWorkload,
  sighting: Omit<Sighting, 'dependencies'>,
): DependencyBeginning {
  const known = sighting.known?.uid === seen.uid ? sighting.known : undefined;
  // Pods that began after the dependency became stale have the data of that time; a later change is pending by its date.
  const isStillStale = among(known && wasRolled(known, seen) !== 'yes' ? known.stale : NO_NAMES);
  const wasDependency = among(known?.dependencies);
  const wasUnverified = among(known?.unverified);
  const at = { ...sighting, known, wasDependency, wasUnverified };
  return (name) => {
    const kept = known?.baselines[name];
    return kept === undefined ? begin(name, seen, at) : { rv: kept, stale: isStillStale(name) };
  };
}

interface Before {
  readonly wasDependency: (name: SourceName) => boolean;
  readonly wasUnverified: (name: SourceName) => boolean;
}

type Begun = ReturnType<DependencyBeginning>;
type SightingOf = Omit<Sighting, 'dependencies'>;

function begin(name: SourceName, seen: ObservedWorkload, at: SightingOf & Before): Begun {
  if (at.known) return beginOfKnown(name, seen, { ...at, known: at.known });
  if (at.live) return { rv: seen.rv };
  return beginAtList(name, seen, at);
}

function beginOfKnown(
  name: SourceName,
  seen: ObservedWorkload,
  at: SightingOf & Before & { known: WorkloadRow },
): Begun {
  const { known } = at;
  const lost = recordedHashes(known.record)[name];
  if (lost !== undefined) {
    // The record was stripped. The last one seen replaces it, unless a list shows another template.
    const source = at.sourceOf(name);
    if (source?.hash !== lost || isLostUnverified(name, lost, { ...at, seen })) return { rv: RV_UNKNOWN };
    // Data that comes back different after a deletion is dated by the deletion, so the deletion's own date would be too late.
    return { rv: source.exists ? source.rv : source.dataRv };
  }
  return at.wasDependency(name) ? { rv: RV_UNKNOWN } : beginOfNew(name, seen, at);
}

/** Whether the last entry that was seen of a stripped record is not known to be true for the present template. */
function isLostUnverified(
  name: SourceName,
  hash: string,
  at: SightingOf & Before & { known: WorkloadRow; seen: ObservedWorkload },
): boolean {
  const { known, seen } = at;
  const rolled = wasRolled(known, seen);
  if (rolled !== 'yes' && at.wasUnverified(name)) return true;
  if (rolled === 'no') return false;
  return !at.live || falseAt({ [name]: hash }, templateWriteSeen(seen, known), at).length > 0;
}

/**
 * Dates a dependency that the workload did not have at its last sighting. After leaders with another scope, a source that was not written
 * since they last watched is adopted.
 */
function beginOfNew(
  name: SourceName,
  seen: ObservedWorkload,
  at: SightingOf & { known: WorkloadRow },
): Begun {
  const { earlier, live, known } = at;
  if (earlier) return earlier(name);
  if (live) return { rv: writeSeen(seen, known) };
  const rv = knownUpTo(known);
  const source = at.sourceOf(name);
  const isAdopted = at.isScopeNew === true && source?.exists === true && wasWrittenBy(source, at.adoptedAt);
  return isAdopted && isNewer(source.dataRv, rv) ? { rv: at.sourcesRv, stale: true } : { rv };
}

/** False if it is not known when the source was written. */
function wasWrittenBy({ modifiedAt }: SourceRow, time: number): boolean {
  return modifiedAt > 0 && modifiedAt <= time;
}

/** Dates a dependency of a workload that neither the cluster state nor the catalog knows. */
function beginAtList(name: SourceName, seen: ObservedWorkload, at: SightingOf): Begun {
  const source = at.sourceOf(name);
  // An unknown source was absent when the sources were listed, and its creation alone needs no reload.
  if (!source) return { rv: at.sourcesRv };
  if (!source.exists) return { rv: seen.createdAt > at.adoptedAt ? RV_UNKNOWN : at.sourcesRv };
  const { onCreate, afterRestart } = at.triggers;
  if (onCreate && afterRestart) return { rv: at.sourcesRv, stale: true };
  return beginWithSource(seen, source, at);
}

function beginWithSource(seen: ObservedWorkload, source: SourceRow, at: SightingOf): Begun {
  // The stream of the source may be ahead of the slowest one, which dates the list.
  const rv = maxRv(at.sourcesRv, source.rv);
  // Clocks of API servers differ, resourceVersions do not: a source with a later one was written after the workload.
  if (seen.createdAt > source.modifiedAt && !isNewer(source.rv, seen.rv)) return { rv };
  if (source.modifiedAt <= at.adoptedAt) return { rv: at.sourcesRv, stale: true };
  if (isInstalledAfter(seen, source, at.triggers)) return { rv };
  const isAdopted = !at.triggers.onCreate && isInstalled(seen, source);
  return isAdopted ? { rv, stale: true } : { rv: RV_UNKNOWN };
}

/**
 * The source has had one state only and the workload is not older, so its pods began with that state. Within the same second only
 * the resourceVersions can tell, and the workload's may belong to a write after its creation.
 */
function isInstalledAfter(seen: ObservedWorkload, source: SourceRow, { onCreate }: Triggers): boolean {
  if (source.asCreated !== true || seen.createdAt < source.modifiedAt) return false;
  return !(onCreate && seen.createdAt === source.modifiedAt && isNewer(source.rv, seen.rv));
}

/**
 * Neither has been changed since its creation, and the workload is older. Its pods waited for the source or began without it, and
 * need no reload. The source may have been deleted and created again meanwhile, so it counts as stale.
 */
function isInstalled(seen: ObservedWorkload, source: SourceRow): boolean {
  return source.asCreated === true && seen.generation === 1;
}
