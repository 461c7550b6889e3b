import { recordedHashes, type RecordedHashes } from '@reroll/core/record/record';
import { DELETED_MARKER_HASH } from '@reroll/core/marker/marker-hash';
import { canShowDeletion } from '@reroll/core/state/pending';
import { isDependency, namedSources } from '@reroll/core/state/dependencies/dependencies';
import { sourceKeyIn, type ObservedWorkload, type SourceName } from '@reroll/core/state/rows';
import type { Triggers } from '@reroll/core/state/settings';
import type { SourceId, SourceKey, SourceKind } from '@reroll/core/model';
import {
  planReload,
  type DependencyFacts,
  type Mention,
  type Plan,
  type PlanInput,
  type SourceReading,
} from '@reroll/core/reload/plan';
import type { DecisionSettings } from '@reroll/core/rules/decision';
import type { SourceAbsence, SourceNow } from '../change/source-reader.ts';
import type { WorkloadNow } from './workload-reader.ts';

/** The readings of sources in this attempt, by name. */
export type Readings = ReadonlyMap<SourceName, SourceNow | SourceAbsence>;

export interface PlanContext {
  readonly adoptStale: 'report' | 'reload';
  readonly onDelete: Triggers['onDelete'];
  readonly decision: DecisionSettings;
  /** Sources whose data the pods run, proven by other means. */
  readonly proven: ReadonlySet<SourceName>;
  /** See `PlanInput`. */
  readonly sharers?: PlanInput['sharers'];
}

/** Makes the plan from the gathered facts. */
export function planOf(workload: WorkloadNow, readings: Readings, context: PlanContext): Plan {
  const { observed, facts, dependencies } = workload;
  return planReload({
    workload: observed,
    row: facts.workload,
    dependencies: dependencies.map((name) => dependencyFacts(name, workload, { readings, context })),
    adoptStale: context.adoptStale,
    onDelete: context.onDelete !== 'never',
    mentionOf: mentions(observed, context.decision),
    sharers: context.sharers,
  });
}

/**
 * The least that the record will hold: an entry for each dependency that exists. If there is no room for that, no source
 * has to be read.
 */
export function leastHashes({ dependencies, observed, facts }: WorkloadNow): RecordedHashes {
  const recorded = recordedHashes(observed.record);
  const entries = dependencies.flatMap((name): [SourceName, string][] => {
    const row = facts.sources.get(sourceKeyIn(observed.namespace, name));
    return row?.exists ? [[name, recorded[name] ?? row.hash]] : [];
  });
  return Object.fromEntries(entries);
}

/** How the workload mentions its sources, regardless of the sources' annotations. */
function mentions(observed: ObservedWorkload, decision: DecisionSettings): (name: SourceName) => Mention {
  const { literal } = namedSources(observed, decision.keys);
  const named = new Set([...observed.uses, ...observed.mentions, ...literal]);
  const isMeant = (source: SourceName): boolean =>
    isDependency({ workload: observed, source, annotations: undefined }, decision);
  return (name) => {
    if (named.has(name)) return 'name';
    return isMeant(name) ? 'pattern' : 'none';
  };
}

/** Splits `<kind>/<name>` into the parts of a key. */
export function sourceIdOf(name: SourceName, namespace: string): SourceId {
  const slash = name.indexOf('/');
  return { kind: name.slice(0, slash) as SourceKind, namespace, name: name.slice(slash + 1) };
}

/** The hash for a source's marker, from the reading that the plan used. */
export function markerHashOf(name: SourceName, workload: WorkloadNow, readings: Readings): string {
  const reading = readings.get(name);
  if (reading === 'SourceAbsent') return DELETED_MARKER_HASH;
  if (reading !== undefined && typeof reading !== 'string') return reading.markerHash;
  const handed = workload.facts.readings.get(sourceKeyIn(workload.observed.namespace, name));
  if (!handed) throw new RangeError(`expected a reading of ${name}`);
  return handed.markerHash;
}

function dependencyFacts(
  name: SourceName,
  workload: WorkloadNow,
  by: { readings: Readings; context: PlanContext },
): DependencyFacts {
  const { facts, observed } = workload;
  const key = sourceKeyIn(observed.namespace, name);
  const read = by.readings.get(name);
  const recorded = recordedHashes(observed.record)[name];
  return {
    name,
    row: facts.sources.get(key),
    reading: read === undefined ? handedOver(workload, key, recorded) : fresh(read),
    isMarked: typeof read === 'object' && (by.context.proven.has(name) || read.isMarked),
    showsDeletion: read === 'SourceAbsent' && canShowDeletion(observed, name, by.context.onDelete),
  };
}

function fresh(read: SourceNow | SourceAbsence): SourceReading | null {
  if (typeof read === 'string') return null;
  const { rv, hash, isRecorded, isKeyAwaited } = read;
  return { rv, hash, isRecorded, isKeyAwaited, afterWorkload: true };
}

/** The hashes that the leader, or the change job, left for this reload job. */
function handedOver(
  workload: WorkloadNow,
  key: SourceKey,
  recorded: string | undefined,
): SourceReading | undefined {
  const handed = workload.facts.readings.get(key);
  if (!handed) return undefined;
  return { rv: handed.rv, hash: handed.hash, isRecorded: recorded === handed.hash, afterWorkload: false };
}
