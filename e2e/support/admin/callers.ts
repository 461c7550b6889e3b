import { cleanUp } from '../cleanup.ts';
import type { Space } from '../kube.ts';
import { tokenOf } from './service-account-tokens.ts';

/** As RBAC has it. */
export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

/** What the chart's ClusterRoles `…-viewer` and `…-operator` grant. */
export const VIEWER: readonly Rule[] = [
  { nonResourceURLs: ['/reroll/api/*'], verbs: ['get'] },
  { nonResourceURLs: ['/reroll/api/v1/preview'], verbs: ['post'] },
];
export const OPERATOR_RULES: readonly Rule[] = [{ nonResourceURLs: ['/reroll/api/*'], verbs: ['*'] }];

export const LIST_DEPLOYMENTS: Rule = { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'] };
export const PATCH_DEPLOYMENTS: Rule = { apiGroups: ['apps'], resources: ['deployments'], verbs: ['patch'] };

export const LIST_PODS: Rule = { apiGroups: [''], resources: ['pods'], verbs: ['list'] };

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/**
 * A service account with these rights in the cluster, and those in its own namespace; gives its token, for the admin or for these
 * audiences.
 */
export async function caller(
  space: Space,
  name: string,
  rights: { cluster?: readonly Rule[]; namespaced?: readonly Rule[]; audiences?: readonly string[] },
): Promise<string> {
  const { client } = space;
  const accounts = `/api/v1/namespaces/${space.name}/serviceaccounts`;
  await client.post(accounts, { metadata: { name } });
  const subjects = [{ kind: 'ServiceAccount', namespace: space.name, name }];
  const metadata = { name: `${space.name}-${name}` };
  const apiGroup = 'rbac.authorization.k8s.io';
  if (rights.cluster) {
    await client.post(`${RBAC}/clusterroles`, { metadata, rules: rights.cluster });
    const roleRef = { apiGroup, kind: 'ClusterRole', name: metadata.name };
    await client.post(`${RBAC}/clusterrolebindings`, { metadata, subjects, roleRef });
    cleanUp(async () => {
      const gone = { method: 'DELETE', timeoutMs: 5_000 } as const;
      for (const kind of ['clusterrolebindings', 'clusterroles'])
        await client.request({ ...gone, path: `${RBAC}/${kind}/${metadata.name}` }).catch(() => undefined);
    });
  }
  if (rights.namespaced) {
    const path = `${RBAC}/namespaces/${space.name}`;
    await client.post(`${path}/roles`, { metadata, rules: rights.namespaced });
    const roleRef = { apiGroup, kind: 'Role', name: metadata.name };
    await client.post(`${path}/rolebindings`, { metadata, subjects, roleRef });
  }
  return await tokenOf(space, name, ...(rights.audiences ?? []));
}
