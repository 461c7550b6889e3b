/**
 * When `metadata.generation` moves: never; with `spec`; with `spec` or annotations (Deployments); with everything but metadata, and
 * but `status` where that is a subresource (custom resources).
 */
export type GenerationRule = 'never' | 'spec' | 'specOrAnnotations' | 'content';

/** A collection that the API server serves, and the rules of its kind. */
export interface ResourceType {
  /** '' is the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly generation: GenerationRule;
  /** Whether `status` is a subresource: other writes leave it as it is. */
  readonly hasStatus: boolean;
  /** Defined by a CustomResourceDefinition: items of lists keep kind and apiVersion, and a PUT must name a resourceVersion. */
  readonly isCustom: boolean;
  /** A PUT must name a resourceVersion. */
  readonly isVersionRequired: boolean;
  /** A PUT creates an object that does not exist. */
  readonly isCreatedByPut: boolean;
  /** Field selectors besides `metadata.name` and `metadata.namespace`: dotted paths. */
  readonly fields: readonly string[];
}

type Rules = Partial<Omit<ResourceType, 'group' | 'version' | 'plural' | 'kind'>>;

const DEFAULTS = {
  isNamespaced: true,
  generation: 'never',
  hasStatus: false,
  isCustom: false,
  isVersionRequired: false,
  isCreatedByPut: false,
  fields: [],
} as const;

/** `apiVersion` and plural, the kind, and what differs from the defaults. */
function type(
  [apiVersion, plural]: readonly [string, string],
  kind: string,
  rules: Rules = {},
): ResourceType {
  const slash = apiVersion.indexOf('/');
  const group = slash === -1 ? '' : apiVersion.slice(0, slash);
  const base = { group, version: apiVersion.slice(slash + 1), plural, kind };
  return rules.isCustom
    ? { ...DEFAULTS, isVersionRequired: true, ...rules, ...base }
    : { ...DEFAULTS, ...rules, ...base };
}

const WITH_STATUS = { generation: 'spec', hasStatus: true } as const;

/** Every kind that Reroll reads or writes, and those that controllers need. */
export const RESOURCE_TYPES: readonly ResourceType[] = [
  type(['v1', 'namespaces'], 'Namespace', { isNamespaced: false, hasStatus: true, fields: ['status.phase'] }),
  type(['v1', 'configmaps'], 'ConfigMap'),
  type(['v1', 'secrets'], 'Secret', { fields: ['type'] }),
  type(['v1', 'pods'], 'Pod', { hasStatus: true, fields: ['spec.nodeName', 'status.phase'] }),
  type(['apps/v1', 'deployments'], 'Deployment', { ...WITH_STATUS, generation: 'specOrAnnotations' }),
  type(['apps/v1', 'statefulsets'], 'StatefulSet', WITH_STATUS),
  type(['apps/v1', 'daemonsets'], 'DaemonSet', WITH_STATUS),
  type(['apps/v1', 'replicasets'], 'ReplicaSet', WITH_STATUS),
  type(['batch/v1', 'cronjobs'], 'CronJob', WITH_STATUS),
  type(['batch/v1', 'jobs'], 'Job', WITH_STATUS),
  type(['coordination.k8s.io/v1', 'leases'], 'Lease', { isVersionRequired: true, isCreatedByPut: true }),
  type(['v1', 'events'], 'Event', {
    fields: ['type', 'reason', 'involvedObject.name', 'involvedObject.uid'],
  }),
  type(['argoproj.io/v1alpha1', 'rollouts'], 'Rollout', {
    ...WITH_STATUS,
    generation: 'content',
    isCustom: true,
  }),
  type(['secrets-store.csi.x-k8s.io/v1', 'secretproviderclasses'], 'SecretProviderClass', {
    generation: 'content',
    isCustom: true,
  }),
  type(['secrets-store.csi.x-k8s.io/v1', 'secretproviderclasspodstatuses'], 'SecretProviderClassPodStatus', {
    generation: 'content',
    isCustom: true,
  }),
];

const BY_KIND: ReadonlyMap<string, ResourceType> = new Map(RESOURCE_TYPES.map((each) => [each.kind, each]));

/** The type of a kind. Throws a `RangeError` for a kind that is not in the table. */
export function typeOfKind(kind: string): ResourceType {
  const found = BY_KIND.get(kind);
  if (found === undefined) throw new RangeError(`expected a kind of the table, given ${kind}`);
  return found;
}

/** `v1`, `apps/v1`. */
export function apiVersionOf({ group, version }: ResourceType): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `deployments.apps`: how messages name a collection. */
export function qualifiedName({ group, plural }: ResourceType): string {
  return group === '' ? plural : `${plural}.${group}`;
}
