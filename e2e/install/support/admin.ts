import { randomBytes } from 'node:crypto';
import type { KubeClient } from '@reroll/kube/client/connection';
import { cleanUp } from '../../support/cleanup.ts';
import { reach } from './reach.ts';
import type { Component, Release } from './release.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** What admin answers to a request of the pods' network. */
export async function askAdmin(
  release: Release,
  path: string,
  {
    token,
    port: at = 8080,
    ...pod
  }: { token?: string | undefined; port?: number; component?: Component; index?: number } = {},
): Promise<Answer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return await reach(release, { component: 'admin', ...pod, port: at }, async (port) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    const type = answer.headers.get('content-type') ?? '';
    return { status: answer.status, type, text: await answer.text() };
  });
}

/** The token of a new ServiceAccount that is bound to these ClusterRoles; it goes when the test or file ends. */
export async function tokenOf(
  client: KubeClient,
  namespace: string,
  clusterRoles: readonly string[],
): Promise<string> {
  const name = `somebody-${randomBytes(3).toString('hex')}`;
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await client.post(accounts, { metadata: { name } });
  for (const role of clusterRoles) {
    const binding = `${name}-${role}`;
    await client.post(`${RBAC}/clusterrolebindings`, {
      metadata: { name: binding },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', namespace, name }],
    });
    cleanUp(() => client.request({ method: 'DELETE', path: `${RBAC}/clusterrolebindings/${binding}` }));
  }
  const { body } = await client.post<{ status: { token: string } }>(`${accounts}/${name}/token`, {
    spec: { audiences: ['reroll'] },
  });
  return body.status.token;
}
