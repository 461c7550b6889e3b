import { recordedHashes, type RecordedHashes } from '../../record/record.ts';
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
import type { DependencyMove } from '../dependencies/dependency-judging.ts';
import { conflictAfter } from './conflict.ts';
import { compact } from '../dependencies/dependencies.ts';
import { isDecidedBefore, knownUpTo, rolledAfter, templateWriteSeen, writeSeen } from './template-owner.ts';
import type { Triggers } from '../settings.ts';

/** What surrounds a sighting of a workload. */
export interface Sighting {
  /** Seen on the stream, right after the write; else found by a list. */
  readonly live: boolean;
  /** The row that the cluster state had or, at a list that knows nothing of it, the catalog's. */
  readonly known: WorkloadRow | undefined;
  /** Dependencies by the rules, as of now. */
  readonly dependencies: readonly SourceName[];
  /** How far the streams of sources had come when the list of workloads was asked for. */
  readonly sourcesRv: Rv;
  /** When this install adopted the cluster, Unix seconds; infinite: with this list. */
  readonly adoptedAt: number;
  readonly triggers: Triggers;
  /** What dependencies that this sighting finds date from, if an earlier one was not judged to its end. */
  readonly earlier?: DependencyBeginning | undefined;
  readonly sourceOf: (name: SourceName) => SourceRow | undefined;
}

interface TemplateFacts {
  readonly templateRv: Rv;
  readonly unverified: readonly SourceName[];
}

/** The row of a workload just seen. */
export function workloadRow(seen: ObservedWorkload, at: Sighting): WorkloadRow {
  const known = at.known?.uid === seen.uid ? at.known : undefined;
  if (known && seen.leftAlone === 'WorkloadRefMissing') return withoutTemplate(known, seen);
  return rowOf(seen, { ...at, known });
}

function rowOf(seen: ObservedWorkload, sighting: Sighting): WorkloadRow {
  const { known, dependencies, live } = sighting;
  const facts = templateFacts(seen, sighting);
  const { key: _key, kind: _kind, namespace: _namespace, writtenAt: _writtenAt, ...rest } = seen;
  const latest = Math.max(seen.restartAt ?? 0, known?.restartAt ?? 0);
  const restartAt = latest === 0 ? {} : { restartAt: latest };
  // A catalog that is ahead of the list has counted what the stream is still to tell.
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

/**
 * Nobody can roll a workload whose template is gone, and its pods stay as they are. So what was known of the
 * template and of the record stays too, and is what the next template is compared with.
 */
function withoutTemplate(known: WorkloadRow, seen: ObservedWorkload): WorkloadRow {
  const { rv, generation, annotations, excess } = seen;
  const none = { dependencies: NO_NAMES, baselines: NO_BASELINES, stale: NO_NAMES };
  return { ...known, rv, generation, annotations, excess, leftAlone: 'WorkloadRefMissing', ...none };
}

/** What the data of a source was from a resourceVersion on. */
export interface DataState {
  readonly from: Rv;
  /** null: it did not exist. Undefined: not known. */
  readonly hash: string | null | undefined;
}

export function stateOf({ exists, dataRv, rv, hash }: SourceRow): DataState {
  return exists ? { from: dataRv, hash } : { from: rv, hash: null };
}

/**
 * `unverified` after the source `name` of it came to these states, the earliest first, as far as they are not later than
 * the template. The streams of sources and of workloads keep no order between them: a patch can be seen before what it
 * came after.
 */
export function unverifiedAfterSource(
  row: WorkloadRow,
  name: SourceName,
  states: readonly DataState[],
): readonly SourceName[] {
  const recorded = recordedHashes(row.record)[name];
  const atTemplate = states.findLast(({ from }) => !isNewer(from, row.templateRv));
  if (recorded === undefined || !atTemplate) return row.unverified;
  const others = row.unverified.filter((other) => other !== name);
  return compact(atTemplate.hash === recorded ? others : [...others, name]);
}

/** When a dependency began, if it has no record, and whether nothing tells whether the pods run the present data. */
export type DependencyBeginning = (name: SourceName) => {
  readonly rv: Rv;
  readonly stale?: boolean | undefined;
};

/** The row with `begun` added to its dependencies and `ended` removed. The row has none of the former and all of the latter. */
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

/** A baseline for a dependency that began because of its source: created, or its annotations changed, at `rv`. */
export function dependencyBegun(row: WorkloadRow, name: SourceName, rv: Rv): WorkloadRow['baselines'] {
  if (name in row.baselines || name in recordedHashes(row.record)) return row.baselines;
  return { ...row.baselines, [name]: rv };
}

/** Its baselines, those of these sources not earlier than `rv`; the same object if none is moved. */
export function movedBaselines(
  { baselines }: Pick<WorkloadRow, 'baselines'>,
  rv: Rv,
  isMeant: (name: SourceName) => boolean,
): WorkloadRow['baselines'] {
  const moved = Object.entries(baselines).filter(([name, from]) => isNewer(rv, from) && isMeant(name));
  if (moved.length === 0) return baselines;
  return { ...baselines, ...Object.fromEntries(moved.map(([name]) => [name, rv])) };
}

function templateFacts(seen: ObservedWorkload, at: Sighting): TemplateFacts {
  const { known, live } = at;
  const changed = known !== undefined && isRolled(known, seen);
  if (live && (changed || !known)) return templateSeen(seen, at);
  if (!known) return { templateRv: RV_UNKNOWN, unverified: NO_NAMES };
  return changed
    ? templateFound(seen, known)
    : { templateRv: known.templateRv, unverified: unverifiedKept(seen, known) };
}

/** Right after the write. Of two streams, one may tell of an earlier write than the other has. */
function templateSeen(seen: ObservedWorkload, at: Sighting): TemplateFacts {
  const templateRv = maxRv(at.known?.templateRv ?? RV_UNKNOWN, templateWriteSeen(seen, at.known));
  return { templateRv, unverified: compact(falseAt(recordedHashes(seen.record), templateRv, at)) };
}

/** Found at a list: some time after what is known. */
function templateFound(seen: ObservedWorkload, known: WorkloadRow): TemplateFacts {
  const isUnverified = known.record === seen.record || isDecidedBefore(seen);
  return {
    templateRv: maxRv(known.templateRv, rolledAfter(known, seen)),
    unverified: isUnverified ? compact(Object.keys(recordedHashes(seen.record))) : NO_NAMES,
  };
}

/** Whether a name is among these: looked up at once, also where a tenant has made them many. */
function among(names: readonly SourceName[] = NO_NAMES): (name: SourceName) => boolean {
  if (names.length <= FEW) return (name) => names.includes(name);
  const all = new Set(names);
  return (name) => all.has(name);
}

const FEW = 8;

/** Under the same template: of the entries that stayed, those that were; and new ones that were decided before it. */
function unverifiedKept(seen: ObservedWorkload, known: WorkloadRow): readonly SourceName[] {
  const record = recordedHashes(seen.record);
  const before = recordedHashes(known.record);
  const wasUnverified = among(known.unverified);
  const isUnverified = (name: SourceName): boolean =>
    record[name] === before[name] ? wasUnverified(name) : isDecidedBefore(seen);
  return compact(Object.keys(record).filter(isUnverified));
}

/** Another template, or a later restart. */
function isRolled(known: WorkloadRow, seen: ObservedWorkload): boolean {
  return known.template !== seen.template || (seen.restartAt ?? 0) > (known.restartAt ?? 0);
}

/** Entries of the record that were not true when the template was written. */
function falseAt(record: RecordedHashes, rv: Rv, { sourceOf, triggers }: SightingOf): SourceName[] {
  return Object.keys(record).filter((name) => {
    const source = sourceOf(name);
    if (source === undefined) return false;
    // Pods that began without it have none of its data: if a creation counts, it is one for them.
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

/** For dependencies without a record that a sighting shows, whatever it takes until they are found. */
export function beginningOf(
  seen: ObservedWorkload,
  sighting: Omit<Sighting, 'dependencies'>,
): DependencyBeginning {
  const known = sighting.known?.uid === seen.uid ? sighting.known : undefined;
  // Pods that began since it was found stale have the data of then, or a later change is pending by its date.
  const isStillStale = among(known && !isRolled(known, seen) ? known.stale : NO_NAMES);
  const wasDependency = among(known?.dependencies);
  const wasUnverified = among(known?.unverified);
  const at = { ...sighting, known, wasDependency, wasUnverified };
  return (name) => {
    const kept = known?.baselines[name];
    return kept === undefined ? begin(name, seen, at) : { rv: kept, stale: isStillStale(name) };
  };
}

/** What was so when it was last seen. */
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
    // Somebody stripped the record: the last one seen stands in, unless a list shows another template than it was of.
    const source = at.sourceOf(name);
    const isUnverified = isRolled(known, seen)
      ? !at.live || falseAt({ [name]: lost }, templateWriteSeen(seen, known), at).length > 0
      : at.wasUnverified(name);
    if (source?.hash !== lost || isUnverified) return { rv: RV_UNKNOWN };
    // Other data that comes after a deletion dates from it, so the deletion itself is too late.
    return { rv: source.exists ? source.rv : source.dataRv };
  }
  return at.wasDependency(name) ? { rv: RV_UNKNOWN } : beginOfNew(name, seen, at);
}

/** A dependency that a workload had not when it was last seen, as far as it was judged. */
function beginOfNew(
  name: SourceName,
  seen: ObservedWorkload,
  { earlier, live, known }: SightingOf & { known: WorkloadRow },
): Begun {
  return earlier ? earlier(name) : { rv: live ? writeSeen(seen, known) : knownUpTo(known) };
}

/** A dependency that neither the cluster state nor the catalog knows. */
function beginAtList(name: SourceName, seen: ObservedWorkload, at: SightingOf): Begun {
  const source = at.sourceOf(name);
  // What nobody knows was not there when the sources were listed, and its creation alone calls for nothing.
  if (!source) return { rv: at.sourcesRv };
  if (!source.exists) return { rv: seen.createdAt > at.adoptedAt ? RV_UNKNOWN : at.sourcesRv };
  const { onCreate, afterRestart } = at.triggers;
  if (onCreate && afterRestart) return { rv: at.sourcesRv, stale: true };
  return beginWithSource(seen, source, at);
}

function beginWithSource(seen: ObservedWorkload, source: SourceRow, at: SightingOf): Begun {
  const pastWrite = seen.createdAt > source.modifiedAt;
  if (pastWrite || source.modifiedAt <= at.adoptedAt) return { rv: at.sourcesRv, stale: !pastWrite };
  if (isInstalledAfter(seen, source, at.triggers)) return { rv: at.sourcesRv };
  const isAdopted = !at.triggers.onCreate && isInstalled(seen, source);
  return isAdopted ? { rv: at.sourcesRv, stale: true } : { rv: RV_UNKNOWN };
}

/**
 * The source has had one state only, and the workload is not older: its pods cannot have begun with another. Within a second
 * only their resourceVersions tell; the workload's may be of a later write than its creation.
 */
function isInstalledAfter(seen: ObservedWorkload, source: SourceRow, { onCreate }: Triggers): boolean {
  if (source.asCreated !== true || seen.createdAt < source.modifiedAt) return false;
  return !(onCreate && seen.createdAt === source.modifiedAt && isNewer(source.rv, seen.rv));
}

/**
 * Both are as they were created, the workload first. Its pods waited for the source, or began without it, and neither
 * calls for a reload; that the source was deleted and created again meanwhile cannot be told, so it counts as stale.
 */
function isInstalled(seen: ObservedWorkload, source: SourceRow): boolean {
  return source.asCreated === true && seen.generation === 1;
}
