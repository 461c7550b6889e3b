import { createHash } from 'node:crypto';
import { adoptedAnnotations } from '../adopted/adopted.ts';
import { annotationOf, sourceListKeys, type AnnotationKeys } from '../annotations/annotation-keys.ts';
import {
  keyOf,
  type Annotations,
  type ObjectMeta,
  type PodSpec,
  type PodTemplate,
  type SourceData,
  type SourceKind,
  type WorkloadKind,
} from '../model.ts';
import {
  BAKE_ANNOTATION,
  FREEZE_ALL_ANNOTATION,
  HOLD_ANNOTATIONS,
  ROLLOUTS_ANNOTATION,
  SOURCE_WAVE_ANNOTATIONS,
  WAVES_ANNOTATION,
} from '../holds/hold.ts';
import { isEnvVarMark } from '../marker/env-var-name.ts';
import { podUses } from '../references/pod-uses.ts';
import { RECORD_ANNOTATION, recordName } from '../record/record.ts';
import type { Reason } from '../reasons.ts';
import { recordHash, sourceKeys, type HashKeys } from '../record/record-hash.ts';
import { referencedSources } from '../references/references.ts';
import { annotationBytes, MOST_ANNOTATION_BYTES } from '../reload/annotation-room.ts';
import { resumeDueAt } from '../reload/pause.ts';
import { parseRv } from '../rv.ts';
import { work } from '../work.ts';
import { RELEASE_ANNOTATION } from './workloads/conflict.ts';
import { sharedAnnotations } from './shared-annotations.ts';
import { compact } from './dependencies/dependencies.ts';
import { listKeys, withinLimits } from './workloads/within-limits.ts';
import { NO_ANNOTATIONS, type ObservedSource, type ObservedWorkload } from './rows.ts';

/** A source as the API serves it. */
export interface SourceObject {
  readonly kind: SourceKind;
  readonly metadata: ObjectMeta;
  readonly data: SourceData;
}

/** Reduces a source to the facts that are kept. Its data is hashed here and goes no further. */
export function observeSource(
  object: SourceObject,
  keys: AnnotationKeys,
  hashKeys: HashKeys,
): ObservedSource {
  const { kind, metadata } = object;
  const key = keyOf({ kind, namespace: metadata.namespace, name: metadata.name });
  return {
    key,
    uid: metadata.uid,
    rv: parseRv(metadata.resourceVersion),
    hash: recordHash(object.data, sourceKeys(key, hashKeys)),
    modifiedAt: lastWrite(metadata),
    ...(isAsCreated(metadata) ? { asCreated: true } : {}),
    annotations: sourceAnnotations(metadata.annotations, keys),
  };
}

/** A workload as the API serves it. */
export interface WorkloadObject {
  readonly kind: WorkloadKind;
  readonly metadata: ObjectMeta;
  readonly template: PodTemplate;
  /** RFC 3339; see `ObservedWorkload.restartAt`. */
  readonly restartAt?: string | undefined;
  /**
   * Whether a write of the pod template starts pods, which then have the current data. Default true. If false, only the creation
   * counts as having brought data.
   */
  readonly templateStartsPods?: boolean;
  /** Whether the rollout is paused, for kinds that can pause it. */
  readonly paused?: boolean | undefined;
  /** See `ObservedWorkload.leftAlone`. */
  readonly leftAlone?: Reason | undefined;
  /** See `ObservedWorkload.isSuspended`. */
  readonly suspended?: boolean | undefined;
}

/** Reduces a workload to the facts that are kept. Throws a `TypeError` if the object has no usable resourceVersion. */
export function observeWorkload(object: WorkloadObject, keys: AnnotationKeys): ObservedWorkload {
  const { kind, metadata, template, paused } = object;
  const restartAt = unixSeconds(object.restartAt);
  const seen: ObservedWorkload = {
    key: keyOf({ kind, namespace: metadata.namespace, name: metadata.name }),
    kind,
    namespace: metadata.namespace,
    uid: metadata.uid,
    generation: metadata.generation ?? 0,
    rv: parseRv(metadata.resourceVersion),
    createdAt: unixSeconds(metadata.creationTimestamp),
    template: object.templateStartsPods === false ? '' : templateHash(template),
    ...(restartAt === 0 ? {} : { restartAt }),
    ...(object.leftAlone === undefined ? {} : { leftAlone: object.leftAlone }),
    ...(object.suspended === true ? { isSuspended: true } : {}),
    ...sourcesOf(template),
    annotations: withAdopted(decidingAnnotations(metadata.annotations, keys), object, keys),
    podAnnotations: decidingAnnotations(template.metadata?.annotations, keys),
    record: metadata.annotations?.[RECORD_ANNOTATION],
    ...crowded(metadata.annotations),
    resumeAt: resumeDueAt({ paused, annotations: metadata.annotations }, keys),
    writtenAt: lastWrite(metadata),
  };
  return withinLimits(seen, keys);
}

function crowded(annotations: Annotations | undefined): Pick<ObservedWorkload, 'annotationBytes'> {
  const bytes = annotationBytes(annotations);
  return bytes * 2 < MOST_ANNOTATION_BYTES ? {} : { annotationBytes: bytes };
}

/** Keeps the annotations that the rules read on a source if their value is `true`, as others have no effect, and those of waves. */
export function sourceAnnotations(annotations: Annotations | undefined, keys: AnnotationKeys): Annotations {
  const found = Object.entries(pick(annotations, [keys.ignore, keys.match]));
  const isTrue = found.filter(([, value]) => value === 'true');
  const waves = Object.entries(shortened(pick(annotations, SOURCE_WAVE_ANNOTATIONS), []));
  const kept = [...isTrue, ...waves];
  return kept.length === 0 ? NO_ANNOTATIONS : Object.fromEntries(kept);
}

/** Keeps the annotations that the rules read on a workload or its pod template, without those of other systems. */
export function decidingAnnotations(annotations: Annotations | undefined, keys: AnnotationKeys): Annotations {
  return shortened(pick(annotations, decidingKeys(keys)), listKeys(keys));
}

const NAMESPACE_ANNOTATIONS = [
  ...HOLD_ANNOTATIONS,
  FREEZE_ALL_ANNOTATION,
  WAVES_ANNOTATION,
  BAKE_ANNOTATION,
  ROLLOUTS_ANNOTATION,
];

/** Keeps the annotations of a Namespace that hold reloads. */
export function namespaceAnnotations(annotations: Annotations | undefined): Annotations {
  return shortened(pick(annotations, NAMESPACE_ANNOTATIONS), []);
}

/** Characters kept of a value that is not a list. No meaningful value is longer. */
const VALUE_LENGTH = 200;

function shortened(annotations: Annotations, lists: readonly string[]): Annotations {
  if (annotations === NO_ANNOTATIONS) return annotations;
  const values = Object.entries(annotations).filter((entry) => isTooLong(entry, lists));
  if (values.length === 0) return annotations;
  // Half of a character that takes two of them is nothing that Redis' scripts could decode.
  const cut = values.map(([key, value]) => [key, `${value.slice(0, VALUE_LENGTH).toWellFormed()}…`] as const);
  return { ...annotations, ...Object.fromEntries(cut) };
}

/** Whether a row has, or will have, only the beginning of this annotation. */
function isTooLong([key, value]: readonly [key: string, value: string], lists: readonly string[]): boolean {
  return value.length > VALUE_LENGTH && !lists.includes(key);
}

/** Whether one of the annotations of a row is not there as a whole. */
export function isAnyCut(annotations: Annotations, keys: AnnotationKeys): boolean {
  const lists = listKeys(keys);
  return Object.entries(annotations).some((entry) => isTooLong(entry, lists));
}

function withAdopted(own: Annotations, object: WorkloadObject, keys: AnnotationKeys): Annotations {
  if (keys.adopt === undefined) return own;
  const adopted = adoptedAnnotations(object, keys.adopt);
  return Object.keys(adopted).length === 0 ? own : { ...own, ...adopted };
}

function sourcesOf(
  template: PodTemplate,
): Pick<ObservedWorkload, 'hasContainers' | 'uses' | 'mentions' | 'marks'> {
  const spec = template.spec ?? {};
  const uses = referencedSources(spec).map(recordName);
  const used = new Set(uses);
  const mentions = podUses(spec)
    .candidates.map(recordName)
    .filter((name) => !used.has(name));
  return {
    hasContainers: (spec.containers?.length ?? 0) > 0,
    uses: compact(uses),
    mentions: compact([...new Set(mentions)]),
    marks: compact(marksOf(spec)),
  };
}

function marksOf(spec: PodSpec): string[] {
  const names = (spec.containers ?? []).flatMap(({ env }) => (env ?? []).map(({ name }) => name));
  return names.filter(isEnvVarMark);
}

/**
 * 96 bits are enough to tell apart the templates of one workload. Without `creationTimestamp`, which is null and which not all versions
 * of the API server serve.
 */
function templateHash(template: PodTemplate): string {
  const metadata = { ...template.metadata, creationTimestamp: undefined };
  const text = JSON.stringify({ ...template, metadata });
  work.templateCharacters += text.length;
  return createHash('sha256').update(text).digest().subarray(0, 12).toString('base64url');
}

/** Returns the Unix seconds of the latest write in managedFields, or of the creation if there is none. */
export function lastWrite(metadata: ObjectMeta): number {
  const times = (metadata.managedFields ?? []).map(({ time }) => unixSeconds(time));
  return Math.max(unixSeconds(metadata.creationTimestamp), ...times);
}

/** False without managedFields, because nothing shows the writes. */
function isAsCreated(metadata: ObjectMeta): boolean {
  const hasTimes = (metadata.managedFields ?? []).some(({ time }) => time !== undefined);
  return hasTimes && lastWrite(metadata) === unixSeconds(metadata.creationTimestamp);
}

export function unixSeconds(time: string | undefined): number {
  const parsed = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(parsed) ? 0 : Math.floor(parsed / 1000);
}

/** The annotations of a workload that affect whether and how it is reloaded; not its record or notes of users. */
export function decidingKeys(keys: AnnotationKeys): string[] {
  return [
    keys.auto,
    keys.search,
    keys.configMapAuto,
    keys.secretAuto,
    keys.secretProviderClassAuto,
    ...sourceListKeys(keys),
    keys.pausePeriod,
    keys.rolloutStrategy,
    RELEASE_ANNOTATION,
    ...HOLD_ANNOTATIONS,
  ];
}

function pick(annotations: Annotations | undefined, keys: readonly string[]): Annotations {
  if (!annotations) return NO_ANNOTATIONS;
  const found = keys.flatMap((key): [string, string][] => {
    const value = annotationOf(annotations, key);
    return value === undefined ? [] : [[key, value]];
  });
  return found.length === 0 ? NO_ANNOTATIONS : sharedAnnotations(found);
}
