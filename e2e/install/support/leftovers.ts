import type { KubeClient } from '@reroll/kube/client/connection';

interface Group {
  readonly preferredVersion: { readonly groupVersion: string };
}

interface Resource {
  readonly name: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

interface Listed {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly namespace?: string } }[];
}

/** Told of what happened, of every kind. */
const TELLING = new Set(['events', 'componentstatuses']);

/**
 * Every object of a namespace, and every one outside of namespaces, as `resource/name`, whatever its kind. What
 * is told about events is left out.
 */
export async function everything(client: KubeClient, namespace: string): Promise<string[]> {
  const { groups } = (await client.get<{ groups: readonly Group[] }>('/apis')).body;
  const roots = [
    '/api/v1',
    ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
  ];
  const found = await Promise.all(roots.map((root) => listGroup(client, root, namespace)));
  return found.flat().sort();
}

async function listGroup(client: KubeClient, root: string, namespace: string): Promise<string[]> {
  const { resources } = (await client.get<{ resources: readonly Resource[] }>(root)).body;
  const listed = resources.filter(({ name, verbs }) => verbs.includes('list') && !TELLING.has(name));
  const names = listed.map(async (resource) => {
    const scope = resource.namespaced ? `/namespaces/${namespace}` : '';
    const { items } = (await client.get<Listed>(`${root}${scope}/${resource.name}`)).body;
    return items.map(({ metadata }) => `${resource.name}/${metadata.name}`);
  });
  return (await Promise.all(names)).flat();
}
