import type { KubeResource } from '@reroll/kube/objects';

/** Kinds of workload that the bench can create, with their collections. */
export const KINDS = {
  Deployment: { group: 'apps', version: 'v1', plural: 'deployments' },
  StatefulSet: { group: 'apps', version: 'v1', plural: 'statefulsets' },
  DaemonSet: { group: 'apps', version: 'v1', plural: 'daemonsets' },
} as const satisfies Record<string, KubeResource>;

export type Kind = keyof typeof KINDS;

export const CONFIG_MAPS: KubeResource = { group: '', version: 'v1', plural: 'configmaps' };
export const SECRETS: KubeResource = { group: '', version: 'v1', plural: 'secrets' };
