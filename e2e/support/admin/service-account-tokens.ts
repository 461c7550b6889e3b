import type { Space } from '../kube.ts';

/** Also the audience of the API server. */
export const ISSUER = 'https://kubernetes.default.svc';
/** The default of `--api-audience`. */
export const AUDIENCE = 'reroll';

function pathOf(space: Space, name: string): string {
  return `/api/v1/namespaces/${space.name}/serviceaccounts/${name}`;
}

/** The name by which the API server knows a ServiceAccount. */
export function userName(space: Space, name: string): string {
  return `system:serviceaccount:${space.name}:${name}`;
}

/** A token of a ServiceAccount that is there, for the admin by default. */
export async function tokenOf(space: Space, name: string, ...audiences: readonly string[]): Promise<string> {
  const spec = { audiences: audiences.length === 0 ? [AUDIENCE] : audiences, expirationSeconds: 3_600 };
  const request = { spec };
  const path = `${pathOf(space, name)}/token`;
  const { body } = await space.client.post<{ status: { token: string } }>(path, request);
  return body.status.token;
}

export async function deleteServiceAccount(space: Space, name: string): Promise<void> {
  await space.client.request({ method: 'DELETE', path: pathOf(space, name) });
}
