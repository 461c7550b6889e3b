import { MERGE_PATCH, type KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { collectionPath, objectPath } from '@reroll/kube/objects';
import { secret as SECRETS } from '@reroll/kube/sources/secret';
import type { WantedSecret } from './arguments.ts';
import { serverCertificate } from './certificate.ts';
import { randomText } from './random-text.ts';

/** Not `app.kubernetes.io/instance`: by that label Argo CD would take the Secret for one that left its manifests, and prune it. */
const LABELS = {
  'app.kubernetes.io/part-of': 'reroll',
  'app.kubernetes.io/managed-by': 'reroll-make-secrets',
};

type Values = Readonly<Record<string, string>>;
interface Secret {
  readonly metadata: { readonly resourceVersion: string };
  readonly data?: Values;
}

/**
 * Makes a Secret unless it is there; if it is, adds keys that it lacks. A certificate is made as a whole or not at all.
 *
 * @returns what was done, for the log: no values
 * @throws a `KubeError`; one with the reason `Conflict` if somebody else writes the Secret at the same time
 */
export async function makeSecret(
  client: Pick<KubeClient, 'get' | 'post' | 'patch'>,
  namespace: string,
  wanted: WantedSecret,
): Promise<string> {
  const { name } = wanted;
  const path = objectPath(SECRETS, { namespace, name });
  const present = await client.get<Secret>(path).catch(absent);
  if (present === undefined) {
    const type = 'hosts' in wanted ? 'kubernetes.io/tls' : 'Opaque';
    const stringData = await valuesOf(wanted, []);
    const secret = { metadata: { name, labels: LABELS }, type, stringData };
    await client.post(collectionPath(SECRETS, namespace), secret);
    return `Secret ${name}: created`;
  }
  const { data = {}, metadata } = present.body;
  const added = await valuesOf(wanted, Object.keys(data));
  const keys = Object.keys(added);
  if (keys.length === 0) return `Secret ${name}: exists, left unchanged`;
  const patch = { metadata: { resourceVersion: metadata.resourceVersion }, stringData: added };
  await client.patch(path, patch, { contentType: MERGE_PATCH });
  return `Secret ${name}: added ${keys.join(', ')}`;
}

/** @param present keys that are not made again */
async function valuesOf(wanted: WantedSecret, present: readonly string[]): Promise<Values> {
  if ('hosts' in wanted) return present.includes('tls.crt') ? {} : await serverCertificate(wanted.hosts);
  const missing = wanted.keys.filter((key) => !present.includes(key));
  return Object.fromEntries(missing.map((key) => [key, randomText()]));
}

function absent(error: unknown): undefined {
  if (error instanceof KubeError && error.status === 404) return undefined;
  throw error;
}
