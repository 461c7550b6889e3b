import { isDeepStrictEqual } from 'node:util';
import {
  TEMPLATE_GENERATION,
  type ApiObject,
  type ManagedFields,
  type Manifest,
  type Metadata,
} from './api-object.ts';
import type { Author } from './etcd.ts';
import { apiVersionOf, type ResourceType } from './resource-types.ts';
import { invalid, type StatusCause } from './status-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** RFC 3339 in seconds, as in `creationTimestamp`. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

function recordAt(object: Fields, ...path: readonly string[]): Fields {
  const found = path.reduce<unknown>((at, name) => (at as Fields | undefined)?.[name], object);
  return typeof found === 'object' && found !== null ? (found as Fields) : {};
}

/** The fields that the API server adds to a new Job: its pods are found by its uid. */
function jobSpec(spec: Fields, { uid, name }: Metadata): Fields {
  const defaults = { parallelism: 1, completions: 1, backoffLimit: 6, suspend: false, ...spec };
  if (spec['manualSelector'] === true) return defaults;
  const template = recordAt(spec, 'template');
  const metadata = recordAt(template, 'metadata');
  const id = { 'batch.kubernetes.io/controller-uid': uid };
  const labels = {
    ...recordAt(metadata, 'labels'),
    ...id,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  return {
    ...defaults,
    selector: { matchLabels: id },
    template: { ...template, metadata: { ...metadata, labels } },
  };
}

function secretFields({ stringData, ...rest }: Fields): Fields {
  const encoded = Object.entries((stringData ?? {}) as Record<string, string>).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  const data =
    stringData === undefined ? {} : { data: { ...recordAt(rest, 'data'), ...Object.fromEntries(encoded) } };
  return { type: 'Opaque', ...rest, ...data };
}

const WITH_REPLICAS: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'ReplicaSet']);

/** Returns the fields besides metadata with the API server's defaults, as far as Reroll looks at them. */
export function withDefaults(type: ResourceType, fields: Fields, metadata: Metadata): Fields {
  const spec = recordAt(fields, 'spec');
  if (WITH_REPLICAS.has(type.kind)) return { ...fields, spec: { replicas: 1, ...spec } };
  if (type.kind === 'CronJob') return { ...fields, spec: { suspend: false, ...spec } };
  if (type.kind === 'Job') return { ...fields, spec: jobSpec(spec, metadata) };
  if (type.kind === 'Secret') return secretFields(fields);
  if (type.kind === 'Namespace')
    return { ...fields, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
  return fields;
}

/** Labels that an object without labels gets: a Job those of its template. */
export function defaultLabels({ kind }: ResourceType, fields: Fields): Partial<Metadata> {
  const labels = recordAt(fields, 'spec', 'template', 'metadata', 'labels') as Metadata['labels'];
  return kind === 'Job' && labels ? { labels } : {};
}

/** Returns the object with the annotations that the server itself writes: it counts the templates of a DaemonSet. */
export function withOwnAnnotations(before: ApiObject | undefined, after: ApiObject): ApiObject {
  if (after.kind !== 'DaemonSet') return after;
  const last = Number(before?.metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
  const isSameTemplate =
    before && isDeepStrictEqual(recordAt(before, 'spec', 'template'), recordAt(after, 'spec', 'template'));
  const count = { [TEMPLATE_GENERATION]: String(isSameTemplate ? last : last + 1) };
  return {
    ...after,
    metadata: { ...after.metadata, annotations: { ...after.metadata.annotations, ...count } },
  };
}

/** Everything but kind, apiVersion and metadata. */
export function contentOf(object: Manifest): Record<string, unknown> {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...content } = object;
  return content;
}

/** Whether `metadata.generation` moves. */
export function movesGeneration(type: ResourceType, before: ApiObject, after: ApiObject): boolean {
  if (type.generation === 'never') return false;
  if (type.generation === 'content') {
    const ignored = type.hasStatus ? { status: undefined } : {};
    return !isDeepStrictEqual({ ...contentOf(before), ...ignored }, { ...contentOf(after), ...ignored });
  }
  if (before['spec'] !== after['spec'] && !isDeepStrictEqual(before['spec'], after['spec'])) return true;
  const { annotations } = before.metadata;
  return (
    type.generation === 'specOrAnnotations' &&
    !isDeepStrictEqual(annotations ?? {}, after.metadata.annotations ?? {})
  );
}

/** Whether two versions differ in anything but what the server itself writes. */
export function isSame(before: ApiObject, after: ApiObject): boolean {
  const own = { managedFields: undefined, resourceVersion: '', generation: 0 };
  return isDeepStrictEqual(
    { ...contentOf(before), metadata: { ...before.metadata, ...own } },
    { ...contentOf(after), metadata: { ...after.metadata, ...own } },
  );
}

/** The fields at the top that a write changed. */
function changedFields(before: ApiObject | undefined, after: ApiObject): string[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after)]);
  const written = [...names].filter(
    (name) => name !== 'kind' && name !== 'apiVersion' && name !== 'metadata',
  );
  const changed = written.filter((name) => !isDeepStrictEqual(before?.[name], after[name]));
  const { labels, annotations, ownerReferences, finalizers } = after.metadata;
  const old = before?.metadata;
  const isMetadataSame = isDeepStrictEqual(
    [labels, annotations, ownerReferences, finalizers],
    [old?.labels, old?.annotations, old?.ownerReferences, old?.finalizers],
  );
  return isMetadataSame ? changed : ['metadata', ...changed];
}

export interface Write {
  readonly type: ResourceType;
  readonly author: Author;
  /** '' or `status`. */
  readonly subresource: string;
  /** Unix milliseconds by the server's clock. */
  readonly at: number;
}

/** `managedFields` after the write: one entry for each manager and subresource, with the fields at the top only. */
export function managedFieldsOf(
  write: Write,
  before: ApiObject | undefined,
  after: ApiObject,
): readonly ManagedFields[] {
  const entries = before?.metadata.managedFields ?? [];
  const { manager } = write.author;
  const isOwn = (entry: ManagedFields): boolean =>
    entry.manager === manager && (entry.subresource ?? '') === write.subresource;
  const changed = changedFields(before, after).map((name) => [`f:${name}`, {}] as const);
  if (changed.length === 0) return entries;
  const own: ManagedFields = {
    manager,
    operation: 'Update',
    apiVersion: apiVersionOf(write.type),
    time: timestamp(write.at),
    fieldsType: 'FieldsV1',
    fieldsV1: { ...entries.find(isOwn)?.fieldsV1, ...Object.fromEntries(changed) },
    ...(write.subresource === 'status' ? { subresource: 'status' as const } : {}),
  };
  return [...entries.filter((entry) => !isOwn(entry)), own];
}

const STRING_MAPS: readonly (readonly string[])[] = [
  ['metadata', 'labels'],
  ['metadata', 'annotations'],
  ['data'],
];

/** Whether the fields have the types that the kind's schema asks for. */
export function isDecodable({ kind }: ResourceType, object: Manifest): boolean {
  const hasData = kind === 'ConfigMap' || kind === 'Secret';
  return STRING_MAPS.filter(([first]) => first !== 'data' || hasData).every((path) =>
    Object.values(recordAt(object, ...path)).every((value) => typeof value === 'string'),
  );
}

const MAX_ANNOTATIONS_BYTES = 256 * 1024;
const NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

function annotationBytes({ annotations = {} }: Metadata): number {
  return Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key + value), 0);
}

/** Fields that a write may not change, by kind. */
const IMMUTABLE: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['selector'],
  StatefulSet: ['selector', 'serviceName', 'podManagementPolicy'],
  DaemonSet: ['selector'],
  ReplicaSet: ['selector'],
  Job: ['selector', 'template', 'completionMode'],
};

function immutableCauses(type: ResourceType, before: ApiObject, after: ApiObject): StatusCause[] {
  const specs = [recordAt(before, 'spec'), recordAt(after, 'spec')] as const;
  return (IMMUTABLE[type.kind] ?? [])
    .filter((name) => !isDeepStrictEqual(specs[0][name], specs[1][name]))
    .map((name) => ({
      reason: 'FieldValueInvalid',
      message: 'Invalid value: field is immutable',
      field: `spec.${name}`,
    }));
}

/** Throws a `StatusError` 422 with causes if the object may not be stored. */
export function requireValid(type: ResourceType, before: ApiObject | undefined, after: ApiObject): void {
  const causes = before === undefined ? [] : immutableCauses(type, before, after);
  if (!NAME.test(after.metadata.name) || after.metadata.name.length > 253)
    causes.push({
      reason: 'FieldValueInvalid',
      message: 'Invalid value: a lowercase RFC 1123 subdomain',
      field: 'metadata.name',
    });
  if (annotationBytes(after.metadata) > MAX_ANNOTATIONS_BYTES)
    causes.push({
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${MAX_ANNOTATIONS_BYTES} bytes`,
      field: 'metadata.annotations',
    });
  if (causes.length > 0) throw invalid(type, after.metadata.name, causes);
}
