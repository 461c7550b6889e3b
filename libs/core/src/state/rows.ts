import { isSameExcess, type Excess } from '../annotations/annotation-limits.ts';
import type { Annotations, SourceKey, WorkloadKey, WorkloadKind } from '../model.ts';
import type { Reason } from '../reasons.ts';
import type { RecordHash } from '../record/record-hash.ts';
import type { Rv } from '../rv.ts';
import type { MarkerConflict } from './workloads/conflict.ts';
import { isSameOwner, type TemplateFrom, type TemplateOwner } from './workloads/template-owner.ts';

/** `<kind>/<name>` of a source; its namespace is that of the workload that speaks of it. */
export type SourceName = string;

/** A source as the stream shows it: its data is hashed and gone. */
export interface ObservedSource {
  readonly key: SourceKey;
  readonly rv: Rv;
  readonly hash: RecordHash;
  /** Unix seconds of the last write by the API server's clock (managedFields), else of its creation. */
  readonly modifiedAt: number;
  /** managedFields tell of no write after the second of its creation. */
  readonly asCreated?: boolean;
  /** Only the annotations that the rules read on a source (ignore, match). */
  readonly annotations: Annotations;
  readonly providerClass?: ProviderClassFacts | undefined;
}

/** Of a SecretProviderClass only: its versions are seen in the statuses of pods, so nobody else can read them. */
export interface ProviderClassFacts {
  /** The incumbent's hash of the versions. */
  readonly markerHash: string;
  /** Of the SecretProviderClass object that the annotations are of; `'0'`: none was seen. */
  readonly rv: Rv;
  /** When a status was last written that shows these versions, Unix seconds; absent: nothing tells. */
  readonly shownAt?: number | undefined;
}

/** What the cluster state and the catalog know of a source. */
export interface SourceRow {
  readonly hash: RecordHash;
  /** Of the last write seen, or of the deletion. Rows are replaced only by a newer one. */
  readonly rv: Rv;
  /**
   * Since when no other data could be had: the write that changed the hash; the deletion, if it came back
   * with other data; the list, if it was absent there. Metadata writes do not move it.
   */
  readonly dataRv: Rv;
  readonly exists: boolean;
  /** 0 once it is deleted. */
  readonly modifiedAt: number;
  /** As observed; not in the catalog, whose rows are of no use without a list. */
  readonly asCreated?: boolean;
  readonly annotations: Annotations;
  readonly providerClass?: ProviderClassFacts | undefined;
  /** It has the data that it was created with, and the creation was seen. Only if creations count. */
  readonly created?: boolean;
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
  /** Hash of the pod template, to tell when it changed; '' for a kind whose template starts no pods. */
  readonly template: string;
  /** Unix seconds: pods created before are replaced, under the same template. Only kinds with such a field. */
  readonly restartAt?: number;
  /** False if the pod template has no container to carry a marker. */
  readonly hasContainers: boolean;
  /** Sources of which a container would get the marker under auto or search. */
  readonly uses: readonly SourceName[];
  /** Sources that the template mentions otherwise, e.g. a volume that nothing mounts. */
  readonly mentions: readonly SourceName[];
  /** Names of the variables by which containers are marked with sources, ours or the incumbent's. */
  readonly marks: readonly string[];
  /** Only the annotations that the rules read, of the workload's metadata and of its pod template. */
  readonly annotations: Annotations;
  readonly podAnnotations: Annotations;
  /** Why a workload of this kind, as it is, never reloads; undefined: it does. */
  readonly leftAlone?: Reason;
  /** Which limit it exceeds, if one; then it never reloads either, and of what exceeds it nothing else is kept. */
  readonly excess?: Excess | undefined;
  /** Text of the record annotation. */
  readonly record: string | undefined;
  /** Unix milliseconds at which a pause that we began ends; undefined: there is none. */
  readonly resumeAt: number | undefined;
  /** Of a workload without a pod template of its own, before the cluster state is told of it: whose it has. */
  readonly templateFrom?: TemplateFrom;
  /** Of such a workload after that: the one whose pod template it has. */
  readonly templateOwner?: TemplateOwner;
  /**
   * Bytes of all annotations of its metadata, keys and values; absent: fewer than half of what the API server allows.
   * A workload that has no room for its record is evaluated again when this changes. Not in the catalog.
   */
  readonly annotationBytes?: number;
  /** Unix seconds of the latest write by the API server's clock; not kept. */
  readonly writtenAt?: number;
}

/** What the cluster state and the catalog know of a workload. */
export interface WorkloadRow extends Omit<
  ObservedWorkload,
  'key' | 'kind' | 'namespace' | 'writtenAt' | 'templateFrom'
> {
  /** What is known of others who take our markers away. */
  readonly conflict?: MarkerConflict | undefined;
  /** The latest one seen: taking it away or setting it back restarts nothing. */
  readonly restartAt?: number;
  /** The last write that changed the pod template, or restarted its pods, whoever wrote it; or a lower bound of it; `'0'`: unknown. */
  readonly templateRv: Rv;
  /** Dependencies: the sources of which the rules say that a change rolls this workload. */
  readonly dependencies: readonly SourceName[];
  /**
   * Recorded sources of which the record was seen to be false for the present template (the source had
   * other data at `templateRv`). Such an entry never counts as equal.
   */
  readonly unverified: readonly SourceName[];
  /** For a dependency without a record: the resourceVersion from which it is judged if the template is older. */
  readonly baselines: Readonly<Record<SourceName, Rv>>;
  /** Dependencies found at a list of which nothing tells whether the pods run the present data. */
  readonly stale: readonly SourceName[];
}

export const NO_NAMES: readonly SourceName[] = Object.freeze([]);
export const NO_ANNOTATIONS: Annotations = Object.freeze({});
export const NO_BASELINES: Readonly<Record<SourceName, Rv>> = Object.freeze({});

/** The key of the source that a workload of `namespace` calls `name`. */
export function sourceKeyIn(namespace: string, name: SourceName): SourceKey {
  const slash = name.indexOf('/');
  return [name.slice(0, slash), namespace, name.slice(slash + 1)].join('/') as SourceKey;
}

/** What a workload of the source's own namespace calls it. */
export function sourceNameOf(key: SourceKey): SourceName {
  const first = key.indexOf('/');
  const second = key.indexOf('/', first + 1);
  return key.slice(0, first) + key.slice(second);
}

/** Whether two rows say the same of a workload; only its resourceVersion may have moved. */
export function isSameBesidesRv(a: WorkloadRow, b: WorkloadRow): boolean {
  return (
    a.conflict === b.conflict &&
    isSameOwner(a.templateOwner, b.templateOwner) &&
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
  'hasContainers',
  'record',
  'resumeAt',
  'annotationBytes',
  'templateRv',
] as const;
const LISTS = ['uses', 'mentions', 'marks', 'dependencies', 'unverified', 'stale'] as const;
const RECORDS = ['annotations', 'podAnnotations', 'baselines'] as const;

export function sameLists(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
