import { apiVersionOf, type ResourceType } from './resource-types.ts';

export interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface ManagedFields {
  readonly manager: string;
  readonly operation: 'Update';
  readonly apiVersion: string;
  readonly time: string;
  readonly fieldsType: 'FieldsV1';
  /** Only the fields at the top: `f:metadata`, `f:data`, `f:spec`, `f:status`. */
  readonly fieldsV1: Readonly<Record<string, object>>;
  readonly subresource?: 'status';
}

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  /** RFC 3339, in seconds. */
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFields[];
}

/** An object as it is stored. Nobody changes one: a write makes a new one, which shares what is the same. */
export interface ApiObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

/** What a client sends: nothing is certain but that it is a JSON object. */
export type Manifest = Readonly<Record<string, unknown>> & { readonly metadata?: Partial<Metadata> };

/**
 * How a client wants objects: whole, or only their metadata. `upgraded`: whole, as a later version of the server serves them, which has
 * another default in pod templates.
 */
export type Form = 'whole' | 'metadata' | 'upgraded';

/** `<namespace>/<name>`, or the name alone. The order of keys is that of etcd. */
export function keyOf(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** An annotation by which the server counts the templates of a DaemonSet: it is not stored, and not in `metadata` alone. */
export const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function withoutTemplateGeneration({ kind, metadata }: ApiObject): Metadata {
  if (kind !== 'DaemonSet') return metadata;
  const { annotations: { [TEMPLATE_GENERATION]: _count, ...annotations } = {}, ...rest } = metadata;
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
}

/** Where the fields of a pod template's spec begin. */
const TEMPLATE = /(?<="template":\{.*"spec":\{)"containers":\[/u;
const NEW_DEFAULT = '"hostUsers":true,';

/** One version of an object, with its JSON, which is made once. */
export class Version {
  readonly type: ResourceType;
  readonly object: ApiObject;
  /** The etcd revision of the write. */
  readonly revision: number;
  #item: string | undefined;
  #metadata: string | undefined;

  constructor(type: ResourceType, object: ApiObject, revision: number) {
    this.type = type;
    this.object = object;
    this.revision = revision;
  }

  get key(): string {
    return keyOf(this.object.metadata.namespace ?? '', this.object.metadata.name);
  }

  /** The object as the answer to a request for it, and in events. */
  json(form: Form): string {
    const head = `{"kind":"${this.type.kind}","apiVersion":"${apiVersionOf(this.type)}",`;
    return form === 'metadata' ? this.#metadataJson() : head + this.#itemJsonIn(form).slice(1);
  }

  /** The object as an item of a list. */
  itemJson(form: Form): string {
    return form === 'metadata' || this.type.isCustom ? this.json(form) : this.#itemJsonIn(form);
  }

  /** The last version of a deleted object, as the event of its deletion shows it. */
  deletedAt(revision: number): Version {
    const metadata = { ...this.object.metadata, resourceVersion: String(revision) };
    return new Version(this.type, { ...this.object, metadata }, revision);
  }

  #itemJsonIn(form: Form): string {
    const json = this.#itemJson();
    return form === 'upgraded' ? json.replace(TEMPLATE, `${NEW_DEFAULT}$&`) : json;
  }

  #itemJson(): string {
    if (this.#item === undefined) {
      const { apiVersion: _apiVersion, kind: _kind, ...rest } = this.object;
      this.#item = JSON.stringify(rest);
    }
    return this.#item;
  }

  #metadataJson(): string {
    this.#metadata ??= JSON.stringify({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: withoutTemplateGeneration(this.object),
    });
    return this.#metadata;
  }
}
