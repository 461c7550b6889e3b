import type { KubeClient } from './client/connection.ts';
import { KubeError, badResponse } from './client/errors.ts';
import type { KubeResource } from './objects.ts';

interface ResourceList {
  readonly resources?: readonly { readonly name?: string }[];
}

/**
 * Whether the API server has this collection now. Only "not found" and a document without the collection mean no. Rejects with a
 * `KubeError` if it cannot tell, e.g. because an aggregated API does not answer.
 */
export async function isServed(
  client: Pick<KubeClient, 'get'>,
  resource: KubeResource,
  options: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<boolean> {
  const path = `/apis/${resource.group}/${resource.version}`;
  try {
    const { resources } = (await client.get<ResourceList>(path, options)).body;
    if (!Array.isArray(resources)) throw badResponse(`GET ${path}`, 'NoResourceList');
    return resources.some(({ name }) => name === resource.plural);
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return false;
    throw error;
  }
}
