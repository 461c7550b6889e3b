import { readFileSync, statSync } from 'node:fs';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import type { KubeClient } from '@reroll/kube/client/connection';

/** One thing that a ServiceAccount may do; '' for a name or namespace stands for any. */
export interface Right {
  /** `reroll-watcher`. */
  readonly account: string;
  readonly namespace: string;
  readonly group: string;
  /** With its subresource: `jobs`, `jobs/status`. */
  readonly resource: string;
  readonly name: string;
  readonly verb: string;
}

/** What a ServiceAccount has asked of the API server, and the answer. */
export interface Request extends Right {
  readonly code: number;
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Binding {
  readonly metadata: { readonly namespace?: string };
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
  }[];
}

interface AuditLine {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code: number };
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** All that Roles and ClusterRoles grant to the ServiceAccounts of a namespace, one verb of one resource each. */
export async function grantedTo(client: KubeClient, namespace: string): Promise<Right[]> {
  const bindings = await Promise.all(
    ['clusterrolebindings', 'rolebindings'].map(async (plural) => {
      return (await client.get<{ items: readonly Binding[] }>(`${RBAC}/${plural}`)).body.items;
    }),
  );
  const granted: Right[] = [];
  for (const { metadata, roleRef, subjects = [] } of bindings.flat()) {
    const own = subjects.filter((each) => each.kind === 'ServiceAccount' && each.namespace === namespace);
    if (own.length === 0) continue;
    const { namespace: place = '' } = metadata;
    const path = roleRef.kind === 'Role' ? `${RBAC}/namespaces/${place}/roles` : `${RBAC}/clusterroles`;
    const { rules } = (await client.get<{ rules: readonly Rule[] }>(`${path}/${roleRef.name}`)).body;
    granted.push(
      ...own.flatMap(({ name }) =>
        rules.flatMap((rule) => rightsOf(rule, { account: name, namespace: place })),
      ),
    );
  }
  return granted;
}

function rightsOf(rule: Rule, of: { account: string; namespace: string }): Right[] {
  const { apiGroups = [], resources = [], resourceNames = [''], verbs } = rule;
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      resourceNames.flatMap((name) => verbs.map((verb) => ({ ...of, group, resource, name, verb }))),
    ),
  );
}

/** The requests that the ServiceAccounts of a namespace have made so far. */
export function requestsOf(cluster: Cluster, namespace: string): Request[] {
  const prefix = `system:serviceaccount:${namespace}:`;
  // Other processes write to it: up to the last whole line.
  const lines = readFileSync(cluster.auditLog)
    .subarray(0, statSync(cluster.auditLog).size)
    .toString()
    .split('\n');
  return lines
    .slice(0, -1)
    .filter((line) => line.includes(prefix))
    .map((line) => JSON.parse(line) as AuditLine)
    .filter(({ user, objectRef }) => user.username.startsWith(prefix) && objectRef !== undefined)
    .map(({ user, verb, objectRef, responseStatus }) => ({
      account: user.username.slice(prefix.length),
      verb,
      namespace: objectRef?.namespace ?? '',
      group: objectRef?.apiGroup ?? '',
      resource: [objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/'),
      name: objectRef?.name ?? '',
      code: responseStatus?.code ?? 0,
    }));
}

/** The rights that no request has needed, as sentences. */
export function unneeded(granted: readonly Right[], requests: readonly Request[]): string[] {
  const allowed = requests.filter(({ code }) => code !== 403);
  const needed = (right: Right): boolean => allowed.some((request) => covers(right, request));
  return granted
    .filter((right) => !needed(right))
    .map(sentence)
    .sort();
}

/** The requests that no right allowed, as sentences. */
export function refused(requests: readonly Request[]): string[] {
  return [...new Set(requests.filter(({ code }) => code === 403).map(sentence))].sort();
}

function covers(right: Right, request: Request): boolean {
  const fields = ['account', 'verb', 'group', 'resource'] as const;
  const open = ['namespace', 'name'] as const;
  return (
    fields.every((field) => right[field] === request[field]) &&
    open.every((field) => right[field] === '' || right[field] === request[field])
  );
}

function sentence({ account, verb, resource, group, name, namespace }: Right): string {
  const what = group === '' ? resource : `${resource}.${group}`;
  return [account, verb, what, name, namespace === '' ? '' : `in ${namespace}`].filter(Boolean).join(' ');
}
