/**
 * The nouns of Reroll, as plain values. A *source* is what a workload reads its configuration from; a *workload* is what is
 * reloaded. Only `SourceData` holds data of a ConfigMap or Secret, and it never leaves the function that hashes it, or the one that
 * reads when a certificate expires.
 */

/** Characters that the name of an object may have. */
export const MAX_NAME_LENGTH = 253;

/** Kinds of source, in the order in which a workload's sources are reported. */
export const SOURCE_KINDS = ['ConfigMap', 'Secret', 'SecretProviderClass'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** Kinds of workload that Reroll reloads, by their Kubernetes kind. This is the only list. */
export const WORKLOAD_KINDS = [
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'CronJob',
  'Job',
  'Rollout',
  'DeploymentConfig',
] as const;
export type WorkloadKind = (typeof WORKLOAD_KINDS)[number];

/** Identity of an object: `<kind>/<namespace>/<name>`. Keys of different kinds are different types. */
export type Key<Kind extends string> = `${Kind}/${string}/${string}`;

/** Identity of a source, e.g. `ConfigMap/shop/web-config`. */
export type SourceKey = Key<SourceKind>;

/** Identity of a workload, e.g. `Deployment/shop/web`. */
export type WorkloadKey = Key<WorkloadKind>;

export interface SourceId {
  readonly kind: SourceKind;
  readonly namespace: string;
  readonly name: string;
}

export interface WorkloadId {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

export type Annotations = Readonly<Record<string, string>>;

/**
 * The data of a ConfigMap (`data` is text, `binaryData` base64) or of a Secret (`data` base64), as the
 * API serves it. Dropped as soon as it is hashed.
 */
export interface SourceData {
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly binaryData?: Readonly<Record<string, string>> | undefined;
}

/** The part of `metadata` that Reroll reads. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly annotations?: Annotations | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly ownerReferences?:
    | readonly {
        readonly uid: string;
        readonly kind?: string | undefined;
        readonly controller?: boolean | undefined;
      }[]
    | undefined;
  readonly managedFields?:
    | readonly {
        readonly manager?: string | undefined;
        readonly time?: string | undefined;
        readonly fieldsV1?: Readonly<Record<string, unknown>> | undefined;
      }[]
    | undefined;
}

interface NameRef {
  readonly name?: string | undefined;
}

interface KeyRef extends NameRef {
  readonly key?: string | undefined;
}

/** Every key, if there are no `items`. */
interface ProjectedRef extends NameRef {
  readonly items?: readonly { readonly key: string }[] | null | undefined;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string | undefined;
  readonly valueFrom?:
    | { readonly configMapKeyRef?: KeyRef | undefined; readonly secretKeyRef?: KeyRef | undefined }
    | undefined;
}

export interface Container {
  readonly name: string;
  readonly env?: readonly EnvVar[] | undefined;
  readonly envFrom?:
    | readonly { readonly configMapRef?: NameRef | undefined; readonly secretRef?: NameRef | undefined }[]
    | undefined;
  readonly volumeMounts?:
    | readonly {
        readonly name: string;
        readonly subPath?: string | undefined;
        readonly subPathExpr?: string | undefined;
      }[]
    | undefined;
  /** `Always` makes an init container run beside the others. */
  readonly restartPolicy?: string | undefined;
}

export interface Volume {
  readonly name: string;
  readonly configMap?: NameRef | undefined;
  readonly secret?: { readonly secretName?: string | undefined } | undefined;
  readonly projected?:
    | {
        readonly sources?:
          | readonly {
              readonly configMap?: ProjectedRef | undefined;
              readonly secret?: ProjectedRef | undefined;
            }[]
          | null
          | undefined;
      }
    | undefined;
  readonly csi?: { readonly volumeAttributes?: Readonly<Record<string, string>> | undefined } | undefined;
}

/** The part of a pod spec in which sources are found. */
export interface PodSpec {
  readonly containers?: readonly Container[] | null | undefined;
  readonly initContainers?: readonly Container[] | null | undefined;
  readonly volumes?: readonly Volume[] | null | undefined;
  readonly schedulerName?: string | undefined;
}

export interface PodTemplate {
  readonly metadata?: { readonly annotations?: Annotations | undefined } | undefined;
  readonly spec?: PodSpec | undefined;
}

/**
 * Returns `<kind>/<namespace>/<name>`. Names in Kubernetes contain no slash. Uses `join`, because a concatenated string keeps its
 * parts in memory, and there are hundreds of thousands of keys.
 */
export function keyOf<Kind extends string>(id: { kind: Kind; namespace: string; name: string }): Key<Kind> {
  return [id.kind, id.namespace, id.name].join('/') as Key<Kind>;
}

/** Accepts a kind and names as the API server does, so that no other text becomes part of an API path. */
const KEY_FORM =
  /^[A-Za-z]{1,63}\/[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\/[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/;

export function isKey(text: string): text is Key<string> {
  return KEY_FORM.test(text);
}

export function isSourceKey(text: string): text is SourceKey {
  return isKey(text) && isSourceKind(kindOf(text));
}

export function isWorkloadKey(text: string): text is WorkloadKey {
  return isKey(text) && isWorkloadKind(kindOf(text));
}

export function isSourceKind(kind: string): kind is SourceKind {
  return SOURCE_KINDS.some((each) => each === kind);
}

export function isWorkloadKind(kind: string): kind is WorkloadKind {
  return WORKLOAD_KINDS.some((each) => each === kind);
}

export function kindOf<Kind extends string>(key: Key<Kind>): Kind {
  return key.slice(0, key.indexOf('/')) as Kind;
}

export function namespaceOf(key: Key<string>): string {
  const first = key.indexOf('/');
  return key.slice(first + 1, key.indexOf('/', first + 1));
}

/** Returns the parts of a key. Throws a `TypeError` that names the key if it does not have three parts. */
export function partsOf<Kind extends string>(
  key: Key<Kind>,
): { kind: Kind; namespace: string; name: string } {
  const [kind, namespace, name, ...rest] = key.split('/');
  if (!kind || !namespace || !name || rest.length > 0) {
    throw new TypeError(`expected a key <kind>/<namespace>/<name>, given ${JSON.stringify(key)}`);
  }
  return { kind: kind as Kind, namespace, name };
}
