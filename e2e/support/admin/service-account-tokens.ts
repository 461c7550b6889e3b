import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { serviceAccountKeyFile } from '../../../tools/cluster/src/servers/apiserver.ts';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import type { Space } from '../kube.ts';

/** Also the audience of the API server. */
export const ISSUER = 'https://kubernetes.default.svc';
/** The default of `--api-audience`. */
const AUDIENCE = 'reroll';

function pathOf(space: Space, name: string): string {
  return `/api/v1/namespaces/${space.name}/serviceaccounts/${name}`;
}

/** The name by which the API server knows a ServiceAccount. */
export function userName(space: Space, name: string): string {
  return `system:serviceaccount:${space.name}:${name}`;
}

/** A token of a ServiceAccount that is there, for the admin; by default. */
export async function tokenOf(space: Space, name: string, audience = AUDIENCE): Promise<string> {
  const request = { spec: { audiences: [audience], expirationSeconds: 3_600 } };
  const path = `${pathOf(space, name)}/token`;
  const { body } = await space.client.post<{ status: { token: string } }>(path, request);
  return body.status.token;
}

export async function deleteServiceAccount(space: Space, name: string): Promise<void> {
  await space.client.request({ method: 'DELETE', path: pathOf(space, name) });
}

/**
 * A token of a ServiceAccount as the API server would have made it, with another end: TokenRequest gives none that ends
 * within ten minutes. `expiresIn` in seconds; negative: it has ended.
 */
export async function signedToken(
  cluster: Cluster,
  of: { space: Space; name: string; expiresIn: number },
): Promise<string> {
  const { space, name, expiresIn } = of;
  const { body } = await space.client.get<{ metadata: { uid: string } }>(pathOf(space, name));
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: ISSUER,
    aud: [AUDIENCE],
    sub: userName(space, name),
    nbf: now - 7_200,
    iat: now - 7_200,
    exp: now + expiresIn,
    'kubernetes.io': { namespace: space.name, serviceaccount: { name, uid: body.metadata.uid } },
  };
  const text = [{ alg: 'ES256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const key = createPrivateKey(readFileSync(serviceAccountKeyFile(cluster.dir)));
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}
