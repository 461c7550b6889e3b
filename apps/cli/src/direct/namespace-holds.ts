import type { NamespaceHolds } from '@reroll/core/holds/hold';
import type { Annotations } from '@reroll/core/model';
import { KubeError } from '@reroll/kube/client/errors';
import { RecentAnnotations } from '@reroll/kube/namespaces/recent-annotations';
import type { Session } from '../session.ts';
import type { FoundSettings } from './settings.ts';

/** What the annotations of Namespaces hold, without those that the caller may not read. */
export async function namespaceHolds(
  { cluster }: Session,
  found: FoundSettings,
  name: string,
): Promise<Partial<NamespaceHolds>> {
  const namespaces = new RecentAnnotations(cluster.client);
  const [namespace, installation] = await Promise.all([
    readable(namespaces, name),
    installationOf(namespaces, found),
  ]);
  return { ...(namespace ? { namespace } : {}), ...(installation ? { installation } : {}) };
}

/** Without an installation, nothing is frozen by one. */
async function installationOf(
  namespaces: RecentAnnotations,
  { namespace }: FoundSettings,
): Promise<Annotations | undefined> {
  if (namespace === null) return {};
  return namespace === undefined ? undefined : await readable(namespaces, namespace);
}

async function readable(namespaces: RecentAnnotations, name: string): Promise<Annotations | undefined> {
  try {
    return await namespaces.of(name);
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return undefined;
    throw error;
  }
}
