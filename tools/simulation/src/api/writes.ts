import { isDeepStrictEqual } from 'node:util';
import { keyOf, Version, type ApiObject, type Manifest, type Metadata } from './api-object.ts';
import type { Target } from './api-request.ts';
import type { Author, Etcd } from './etcd.ts';
import {
  contentOf,
  defaultLabels,
  isDecodable,
  isSame,
  managedFieldsOf,
  movesGeneration,
  requireValid,
  timestamp,
  withDefaults,
  withOwnAnnotations,
} from './object-rules.ts';
import { apiVersionOf, typeOfKind, type ResourceType } from './resource-types.ts';
import { alreadyExists, badRequest, conflict, invalid, notFound, StatusError } from './status-error.ts';

export interface WriteOptions {
  readonly author: Author;
  /** Everything but the write itself is done. */
  readonly isDryRun: boolean;
  /** Unix milliseconds by the clock of the server. */
  readonly at: number;
}

export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: string;
}

/** Makes the new object of the present one. */
export type Edit = (present: ApiObject) => unknown;

/** Characters of generated names, as in Kubernetes. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** The finalizers by which the garbage collector is asked to act first. */
const FINALIZERS: Readonly<Record<string, string>> = { Foreground: 'foregroundDeletion', Orphan: 'orphan' };

const NO_VERSION = {
  reason: 'FieldValueInvalid',
  message: 'Invalid value: 0: must be specified for an update',
  field: 'metadata.resourceVersion',
};
/** A patch that makes an object whose fields have other types. */
const UNDECODABLE = { reason: 'FieldValueInvalid', message: 'Invalid value', field: 'patch' };

/** Writes as the API server does them: defaults, validation, optimistic concurrency, generation and managedFields. */
export class Writes {
  readonly #etcd: Etcd;
  readonly #random: () => number;

  constructor(etcd: Etcd, random: () => number) {
    this.#etcd = etcd;
    this.#random = random;
  }

  create({ type, namespace }: Target, body: Manifest, options: WriteOptions): Version {
    const given = body.metadata ?? {};
    requireKind(type, body);
    this.#requireTarget(type, namespace, given);
    const object = this.#created({ type, namespace, given }, body, options);
    requireValid(type, undefined, object);
    this.#requireNamespace(namespace, object.metadata.name);
    const key = keyOf(namespace, object.metadata.name);
    if (this.#etcd.get(type, key) !== undefined) throw alreadyExists(type, object.metadata.name);
    return this.#commit({ type, key }, object, options);
  }

  /** A PUT: the object is to be this. */
  replace(target: Target, body: Manifest, options: WriteOptions): Version {
    const { type, name } = target;
    const given = body.metadata ?? {};
    requireKind(type, body);
    if ((given.name ?? '') !== name)
      throw badRequest(
        `the name of the object (${given.name ?? ''}) does not match the name on the URL (${name})`,
      );
    const isThere = this.#etcd.get(type, keyOf(target.namespace, name)) !== undefined;
    if (isThere || !type.isCreatedByPut)
      return this.edit(target, (present) => replacement(target, present, body), options);
    if (given.uid !== undefined)
      throw conflict(type, name, `Precondition failed: UID in precondition: ${given.uid}`);
    const { resourceVersion: _version, ...metadata } = given;
    return this.create(target, { ...body, metadata }, options);
  }

  /** A PATCH, or a write of the world. A `resourceVersion` or `uid` that the edit sets is a precondition. */
  edit({ type, namespace, name, subresource }: Target, edit: Edit, options: WriteOptions): Version {
    const key = keyOf(namespace, name);
    const present = this.#etcd.get(type, key);
    if (present === undefined) throw notFound(type, name);
    const wanted = edit(present.object) as Manifest;
    if (!isDecodable(type, wanted)) throw invalid({ group: '', kind: '' }, '', [UNDECODABLE]);
    requireUnchanged(present, wanted);
    const write = { type, author: options.author, subresource, at: options.at };
    const merged = withOwnAnnotations(present.object, mergedObject(write, present.object, wanted));
    if (isSame(present.object, merged)) return present;
    requireValid(type, present.object, merged);
    const generation = movesGeneration(type, present.object, merged)
      ? { generation: (merged.metadata.generation ?? 0) + 1 }
      : {};
    const metadata = {
      ...merged.metadata,
      ...generation,
      managedFields: managedFieldsOf(write, present.object, merged),
    };
    const isReleased = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    const written = { ...merged, metadata };
    if (!isReleased) return this.#commit({ type, key }, written, options);
    this.#commit({ type, key, isDeletion: true }, written, options);
    return new Version(type, written, present.revision);
  }

  /** Returns the object if it waits for its finalizers; undefined if it is gone. */
  delete(
    { type, namespace, name }: Target,
    { preconditions, propagationPolicy }: DeleteOptions,
    options: WriteOptions,
  ): Version | undefined {
    const key = keyOf(namespace, name);
    const present = this.#etcd.get(type, key);
    if (present === undefined) throw notFound(type, name);
    requirePreconditions(present, preconditions);
    const { metadata } = present.object;
    const policy = propagationPolicy ?? (type.kind === 'Job' ? 'Orphan' : 'Background');
    const finalizers = finalizersFor(policy, metadata.finalizers ?? []);
    if (finalizers.length === 0 && type.kind !== 'Namespace') {
      this.#commit({ type, key, isDeletion: true }, present.object, options);
      return undefined;
    }
    const marked = marksDeletion(present.object, finalizers, timestamp(options.at));
    return isDeepStrictEqual(marked, present.object) ? present : this.#commit({ type, key }, marked, options);
  }

  /** Removes an object that waits for nothing but this: a namespace whose content is gone. */
  finish({ type, namespace, name }: Target, options: WriteOptions): void {
    const key = keyOf(namespace, name);
    const present = this.#etcd.get(type, key);
    if (present !== undefined) this.#commit({ type, key, isDeletion: true }, present.object, options);
  }

  /** A version 4 UUID. */
  uuid(): string {
    const digits = Array.from({ length: 32 }, () => Math.floor(this.#random() * 16).toString(16)).join('');
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`;
  }

  #requireTarget(type: ResourceType, namespace: string, given: Partial<Metadata>): void {
    if (type.isNamespaced && namespace === '')
      throw badRequest('an empty namespace may not be set during creation');
    if (given.namespace !== undefined && given.namespace !== namespace)
      throw badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    if ((given.resourceVersion ?? '') !== '')
      throw new StatusError({
        code: 500,
        message: 'resourceVersion should not be set on objects to be created',
      });
    if (given.name === undefined && given.generateName === undefined)
      throw invalid(type, '', [
        {
          reason: 'FieldValueRequired',
          message: 'Required value: name or generateName is required',
          field: 'metadata.name',
        },
      ]);
  }

  #requireNamespace(namespace: string, name: string): void {
    if (namespace === '') return;
    const type = typeOfKind('Namespace');
    const found = this.#etcd.get(type, namespace);
    if (found === undefined) throw notFound(type, namespace);
    if (found.object.metadata.deletionTimestamp === undefined) return;
    const message = `unable to create new content in namespace ${namespace} because it is being terminated`;
    const cause = { reason: 'NamespaceTerminating', message, field: 'metadata.namespace' };
    const details = { name, causes: [cause] };
    throw new StatusError({
      code: 403,
      reason: 'Forbidden',
      message: `${name} is forbidden: ${message}`,
      details,
    });
  }

  #created(
    { type, namespace, given }: { type: ResourceType; namespace: string; given: Partial<Metadata> },
    body: Manifest,
    { author, at }: WriteOptions,
  ): ApiObject {
    const base: Metadata = {
      ...given,
      name: given.name ?? this.#generated(given.generateName ?? ''),
      ...(namespace === '' ? {} : { namespace }),
      uid: this.uuid(),
      resourceVersion: '',
      creationTimestamp: timestamp(at),
    };
    const { managedFields: _managed, generation: _generation, deletionTimestamp: _deleted, ...kept } = base;
    const label = { labels: { 'kubernetes.io/metadata.name': base.name, ...base.labels } };
    const metadata = {
      ...kept,
      ...(type.kind === 'Namespace' ? label : {}),
      ...(type.generation === 'never' ? {} : { generation: 1 }),
    };
    const content = contentOf(body);
    if (type.hasStatus || !type.isCustom) delete content['status'];
    const fields = withDefaults(type, content, metadata);
    const labelled =
      metadata.labels === undefined ? { ...metadata, ...defaultLabels(type, fields) } : metadata;
    const bare = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: labelled, ...fields };
    const object = withOwnAnnotations(undefined, bare);
    const managedFields = managedFieldsOf({ type, author, subresource: '', at }, undefined, object);
    return { ...object, metadata: { ...object.metadata, managedFields } };
  }

  #generated(prefix: string): string {
    const suffix = Array.from({ length: 5 }, () => ALPHABET[Math.floor(this.#random() * ALPHABET.length)]);
    return prefix + suffix.join('');
  }

  #commit(
    { type, key, isDeletion = false }: { type: ResourceType; key: string; isDeletion?: boolean },
    object: ApiObject,
    { author, isDryRun }: WriteOptions,
  ): Version {
    if (isDryRun) return new Version(type, withoutVersion(object), 0);
    return this.#etcd.put({ type, key, author, object: isDeletion ? undefined : object }).shown;
  }
}

function withoutVersion(object: ApiObject): ApiObject {
  const { resourceVersion: _version, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as Metadata };
}

/** The finalizers of a deletion: a later one with another policy replaces the earlier one's. */
function finalizersFor(policy: string, present: readonly string[]): string[] {
  const others = present.filter((name) => !Object.values(FINALIZERS).includes(name));
  const added = FINALIZERS[policy];
  return added === undefined ? others : [...others, added];
}

/** The object as it waits for its finalizers, or a namespace for its content. */
function marksDeletion(object: ApiObject, finalizers: readonly string[], at: string): ApiObject {
  const { metadata } = object;
  const { deletionTimestamp, generation } = metadata;
  const isFirst = deletionTimestamp === undefined;
  const moved = isFirst && generation !== undefined ? { generation: generation + 1 } : {};
  const marks = { ...metadata, ...moved, deletionTimestamp: deletionTimestamp ?? at };
  if (object.kind === 'Namespace') return { ...object, status: { phase: 'Terminating' }, metadata: marks };
  return { ...object, metadata: { ...marks, deletionGracePeriodSeconds: 0, finalizers } };
}

function requireKind(type: ResourceType, body: Manifest): void {
  const { kind, apiVersion } = body;
  const isGiven = kind !== undefined || apiVersion !== undefined;
  const isRight = kind === type.kind && apiVersion === apiVersionOf(type);
  if ((!isRight && (isGiven || type.isCustom)) || !isDecodable(type, body))
    throw badRequest(`the provided object cannot be handled as a ${type.kind}`);
}

/** For a PUT, the uid is a precondition, and some kinds need a resourceVersion. */
function replacement({ type, name }: Target, { metadata }: ApiObject, body: Manifest): Manifest {
  const { uid = metadata.uid, resourceVersion } = body.metadata ?? {};
  if (uid !== metadata.uid)
    throw conflict(
      type,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
    );
  if (type.isVersionRequired && resourceVersion === undefined) throw invalid(type, name, [NO_VERSION]);
  return body;
}

function requireUnchanged({ type, object }: Version, { metadata = {} }: Manifest): void {
  const { name, uid, resourceVersion } = object.metadata;
  const { uid: wantedUid = uid, resourceVersion: wantedVersion = '' } = metadata;
  if (wantedUid !== uid) {
    const cause = {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: field is immutable',
      field: 'metadata.uid',
    };
    throw invalid(type, name, [cause, cause]);
  }
  if (wantedVersion !== '' && wantedVersion !== resourceVersion)
    throw conflict(
      type,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
}

function requirePreconditions(
  { type, object }: Version,
  preconditions: DeleteOptions['preconditions'] = {},
): void {
  const { name, uid, resourceVersion } = object.metadata;
  if (preconditions.uid !== undefined && preconditions.uid !== uid)
    throw conflict(
      type,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion)
    throw conflict(
      type,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
}

/** The present object with what the write may change. */
function mergedObject(
  { type, subresource }: { type: ResourceType; subresource: string },
  present: ApiObject,
  wanted: Manifest,
): ApiObject {
  const { apiVersion, kind, metadata } = present;
  if (subresource === 'status') return { ...present, status: wanted['status'] };
  const { labels, annotations, ownerReferences, finalizers } = wanted.metadata ?? {};
  const { labels: _l, annotations: _a, ownerReferences: _o, finalizers: _f, ...system } = metadata;
  const given = Object.entries({ labels, annotations, ownerReferences, finalizers }).filter(
    ([, value]) => !isEmpty(value),
  );
  const content = contentOf(wanted);
  if (type.hasStatus || !type.isCustom) delete content['status'];
  const status = type.hasStatus && present['status'] !== undefined ? { status: present['status'] } : {};
  const fields =
    type.kind === 'Job' || type.kind === 'Namespace' ? content : withDefaults(type, content, metadata);
  const own = { ...system, ...defaultLabels(type, fields), ...Object.fromEntries(given) };
  return { apiVersion, kind, metadata: own, ...fields, ...status };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || Object.keys(value).length === 0;
}
