import type { KubeResource } from '@reroll/kube/objects';

export const DEPLOYMENTS: KubeResource = { group: 'apps', version: 'v1', plural: 'deployments' };
export const CONFIG_MAPS: KubeResource = { group: '', version: 'v1', plural: 'configmaps' };
export const SECRETS: KubeResource = { group: '', version: 'v1', plural: 'secrets' };
