/** What is in the small world, as far as a checker has to know it. */
import type { ManagedFields } from '../api/api-object.ts';

export const NAMESPACES = ['team-a', 'team-b'] as const;
/** Of the install itself. */
export const INSTALL = 'reroll';

/** What the steps of any run may write. */
export const COMMON_SOURCES = [
  'ConfigMap/app',
  'ConfigMap/web-env',
  'Secret/token',
  'SecretProviderClass/vault',
] as const;
/** Its changes come in waves, and may be bad; nothing else writes it. */
export const CANARY = 'ConfigMap/canary';
export const SOURCES = [...COMMON_SOURCES, CANARY] as const;
export type SourceRef = (typeof SOURCES)[number];

/** Each kind is at least a tenth of them. The Rollout `front` has the pod template of the Deployment `front`. */
export const WORKLOADS = [
  'Deployment/web',
  'Deployment/front',
  'StatefulSet/db',
  'DaemonSet/agent',
  'Rollout/shop',
  'Rollout/front',
  'CronJob/report',
  'Job/migrate',
] as const;
/** It has that template too, and is created by `sharing.ts` only. */
export const SHARING = 'Rollout/back';
export const ALL_WORKLOADS = [...WORKLOADS, SHARING] as const;
export type WorkloadRef = (typeof ALL_WORKLOADS)[number];

/** The data of a source is one of these; its text is secret. */
export const LETTERS = ['A', 'B', 'C'] as const;
export type Letter = (typeof LETTERS)[number];

/** Begins every value of a source, so that a check can find one anywhere. */
export const CONFIDENTIAL = 'confidential-';

export interface Meta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly managedFields?: readonly ManagedFields[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
  }[];
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Meta;
  readonly [field: string]: unknown;
}

export interface PodTemplate {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly Container[];
    readonly volumes?: readonly unknown[];
    readonly restartPolicy?: string;
  };
}

interface Container {
  readonly name: string;
  image: string;
  readonly env?: readonly unknown[];
  readonly envFrom?: readonly unknown[];
  readonly volumeMounts?: readonly unknown[];
}

/** `Kind/namespace/name`, as in Reroll's own keys. */
export function keyOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}
