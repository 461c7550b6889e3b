import type { NamespaceHolds } from '@reroll/core/holds/hold';
import { KubeError } from '@reroll/kube/client/errors';
import { NamespaceReader } from '@reroll/kube/namespaces/namespace-reader';
import type { Session } from '../session.ts';
import type { FoundSettings } from './settings.ts';

/** What the annotations of Namespaces hold; undefined if the caller may not read them. */
export async function namespaceHolds(
  { cluster }: Session,
  found: FoundSettings,
  name: string,
): Promise<NamespaceHolds | undefined> {
  const namespaces = new NamespaceReader(cluster.client);
  try {
    const [namespace, installation] = await Promise.all([
      namespaces.annotations(name),
      found.namespace === undefined ? {} : namespaces.annotations(found.namespace),
    ]);
    return { namespace, installation };
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return undefined;
    throw error;
  }
}
