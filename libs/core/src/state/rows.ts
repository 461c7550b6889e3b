import { isSameExcess, type Excess } from '../annotations/annotation-limits.ts';
import type { Annotations, SourceKey, WorkloadKey, WorkloadKind } from '../model.ts';
import type { Reason } from '../reasons.ts';
import type { RecordHash } from '../record/record-hash.ts';
import type { Rv } from '../rv.ts';
import type { MarkerConflict } from './workloads/conflict.ts';
import { isSameOwner, sharersOf, type TemplateFrom, type TemplateOwner } from './workloads/template-owner.ts';

/** `<kind>/<name>` of a source, in the namespace of the workload. */
export type SourceName = string;

/** A source as the stream shows it, with a hash in place of its data. */
export interface ObservedSource {
  readonly key: SourceKey;
  /** Not in the row, and so not in the catalog. Absent from a SecretProviderClass, which is seen by the statuses of pods. */
  readonly uid?: string;
  readonly rv: Rv;
  readonly hash: RecordHash;
  /** Unix seconds of the last write (managedFields) by the API server's clock, or of the creation if there is none. */
  readonly modifiedAt: number;
  /** managedFields show no write after the second of the creation. */
  readonly asCreated?: boolean;
  /** Only the annotations that the rules read on a source (ignore, match). */
  readonly annotations: Annotations;
  readonly providerClass?: ProviderClassFacts | undefined;
  /** Only of a Secret of the type `kubernetes.io/tls`. Not in the row, and so not in the catalog. */
  readonly certificate?: CertificateSeen;
  /** Hashes the data for the marker. Only of a live event, because it holds the data: call it at once or not at all. */
  readonly markerHash?: () => string;
}

/** A reading: the hashes of a source at one resourceVersion, for the jobs of its change. No data. */
export interface SourceHashes {
  readonly rv: Rv;
  readonly hash: RecordHash;
  /** stakater/Reloader's hash, for the marker. */
  readonly markerHash: string;
}

/** All that is kept of a certificate. */
export interface CertificateSeen {
  /** Unix seconds; undefined if it cannot be read. */
  readonly expiresAt: number | undefined;
}

/** Facts of a SecretProviderClass. Its versions appear only in the statuses of pods, so only the watcher can tell them. */
export interface ProviderClassFacts {
  /** stakater/Reloader's hash of the versions. */
  readonly markerHash: string;
  /** resourceVersion of the SecretProviderClass object that carries the annotations; `'0'` if no object was seen. */
  readonly rv: Rv;
  /** Unix seconds of the last write of a status with these versions; absent if not known. */
  readonly shownAt?: number | undefined;
  /** Hashes of these versions under earlier keys, and without one, for records that have them. Absent if there are none. */
  readonly otherHashes?: readonly RecordHash[] | undefined;
}

/** What the cluster state and the catalog know of a source. */
export interface SourceRow {
  readonly hash: RecordHash;
  /** resourceVersion of the last write seen, or of the deletion. Only a newer one replaces a row. */
  readonly rv: Rv;
  /**
   * The resourceVersion since which no other data could be read: the write that changed the hash; the deletion, if the source came
   * back with other data; or the list, if the source was absent there. Metadata writes do not move it.
   */
  readonly dataRv: Rv;
  readonly exists: boolean;
  /** 0 once the source is deleted. */
  readonly modifiedAt: number;
  /** See `ObservedSource.asCreated`. Not in the catalog, because it only matters with a list. */
  readonly asCreated?: boolean;
  readonly annotations: Annotations;
  readonly providerClass?: ProviderClassFacts | undefined;
  /** The source has the data that it was created with, and the creation was seen. Only set if creations count. */
  readonly created?: boolean | undefined;
  /** The source was absent before, and has the data that it came with. Only set if creations do not count. */
  readonly returned?: boolean | undefined;
  /**
   * The source exists, but lost the labels of the watched ones. The rest of the row is as it was when the source was last shown. Nothing
   * is pending because of it until the source is shown again.
   */
  readonly isUnwatched?: boolean | undefined;
}

/** A workload as the stream shows it, without its pod template. */
export interface ObservedWorkload {
  readonly key: WorkloadKey;
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly uid: string;
  readonly generation: number;
  readonly rv: Rv;
  /** Unix seconds. */
  readonly createdAt: number;
  /**
   * Hash of the pod template, to detect changes, after the version of the API server that served it (`servedBy`); '' for a kind whose
   * template starts no pods.
   */
  readonly template: string;
  /** Unix seconds: pods that were created earlier are replaced, without a change of the template. Only kinds with such a field. */
  readonly restartAt?: number;
  /** False if the pod template has no container to carry a marker. */
  readonly hasContainers: boolean;
  /** Sources for which a container would get the marker under auto or search. */
  readonly uses: readonly SourceName[];
  /** Sources that the template mentions in another way, e.g. a volume that nothing mounts. */
  readonly mentions: readonly SourceName[];
  /** Names of the variables that mark containers, ours or stakater/Reloader's. */
  readonly marks: readonly string[];
  /** Only the annotations that the rules read, from the workload's metadata and its pod template. */
  readonly annotations: Annotations;
  readonly podAnnotations: Annotations;
  /** Why the workload is never reloaded; undefined if it is. */
  readonly leftAlone?: Reason;
  /** A CronJob that is suspended: its next run reads the data of then, so a change is only recorded. */
  readonly isSuspended?: boolean;
  /** The limit that the workload exceeds. Such a workload is never reloaded, and nothing else is kept of what exceeds the limit. */
  readonly excess?: Excess | undefined;
  /** Text of the record annotation. */
  readonly record: string | undefined;
  /** Unix milliseconds at which a pause by Reroll ends; undefined if there is none. */
  readonly resumeAt: number | undefined;
  /** For a workload without its own pod template, before it reaches the cluster state: who owns the template. */
  readonly templateFrom?: TemplateFrom;
  /** For such a workload in the cluster state: the owner of its pod template. */
  readonly templateOwner?: TemplateOwner;
  /**
   * Bytes of all annotations in the metadata, keys and values; absent if fewer than half of the API server's limit. A workload
   * without room for its record is evaluated again when this changes. Not in the catalog.
   */
  readonly annotationBytes?: number;
  /** Where the markers are (`MarkerPlaces` as text), if a worker may patch the workload without reading it. */
  readonly places?: string | undefined;
  /** Unix seconds of the latest write by the API server's clock; not kept. */
  readonly writtenAt?: number;
}

/** What the cluster state and the catalog know of a workload. */
export interface WorkloadRow extends Omit<
  ObservedWorkload,
  'key' | 'kind' | 'namespace' | 'writtenAt' | 'templateFrom'
> {
  /** What is known of a controller that reverts our markers. */
  readonly conflict?: MarkerConflict | undefined;
  /** The latest value seen: removing it or setting it back restarts nothing. */
  readonly restartAt?: number;
  /**
   * resourceVersion of the last write, by anybody, that changed the pod template or restarted the pods, or a lower bound of it;
   * `'0'` if not known.
   */
  readonly templateRv: Rv;
  /** The sources whose change reloads this workload, by the rules. */
  readonly dependencies: readonly SourceName[];
  /**
   * Recorded sources whose entry may be wrong for the present template, because the source had other data at `templateRv`. Such an
   * entry never counts as equal.
   */
  readonly unverified: readonly SourceName[];
  /** For a dependency without a record: the resourceVersion that counts in place of an older `templateRv`. */
  readonly baselines: Readonly<Record<SourceName, Rv>>;
  /** Dependencies found in a list for which nothing shows whether the pods run the current data. */
  readonly stale: readonly SourceName[];
}

export const NO_NAMES: readonly SourceName[] = Object.freeze([]);
export const NO_ANNOTATIONS: Annotations = Object.freeze({});
export const NO_BASELINES: Readonly<Record<SourceName, Rv>> = Object.freeze({});

/** Returns the key of the source that a workload of `namespace` calls `name`. */
export function sourceKeyIn(namespace: string, name: SourceName): SourceKey {
  const slash = name.indexOf('/');
  return [name.slice(0, slash), namespace, name.slice(slash + 1)].join('/') as SourceKey;
}

/** Returns the name that a workload in the source's namespace uses. */
export function sourceNameOf(key: SourceKey): SourceName {
  const first = key.indexOf('/');
  const second = key.indexOf('/', first + 1);
  return key.slice(0, first) + key.slice(second);
}

/** Whether two rows of a workload differ at most in their resourceVersion. */
export function isSameBesidesRv(a: WorkloadRow, b: WorkloadRow): boolean {
  return (
    a.conflict === b.conflict &&
    isSameOwner(a.templateOwner, b.templateOwner) &&
    sameLists(sharersOf(a), sharersOf(b)) &&
    isSameExcess(a.excess, b.excess) &&
    SCALARS.every((field) => a[field] === b[field]) &&
    LISTS.every((field) => sameLists(a[field], b[field])) &&
    RECORDS.every((field) => sameRecords(a[field], b[field]))
  );
}

export function sameRecords(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

const SCALARS = [
  'uid',
  'generation',
  'createdAt',
  'template',
  'restartAt',
  'leftAlone',
  'isSuspended',
  'hasContainers',
  'record',
  'resumeAt',
  'annotationBytes',
  'places',
  'templateRv',
] as const;
const LISTS = ['uses', 'mentions', 'marks', 'dependencies', 'unverified', 'stale'] as const;
const RECORDS = ['annotations', 'podAnnotations', 'baselines'] as const;

export function sameLists(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
