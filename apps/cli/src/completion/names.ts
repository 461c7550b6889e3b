import { listed } from '../api/pages.ts';
import { sourceKindOf, workloadKindOf } from '../args/kinds.ts';
import type { Session } from '../session.ts';
import { z } from 'zod';

export type NamesWanted = 'namespaces' | 'workloads' | 'sources' | 'changes' | 'jobs';

/** The maximum number of completions. */
const MOST = 200;
const NAMESPACES = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

/** Completions of a name. Rejects if neither admin nor cluster can be reached. */
export async function namesOf(
  session: Session,
  wanted: NamesWanted,
  current: string,
): Promise<readonly string[]> {
  const { namespace } = session;
  const [kindWord = ''] = current.split('/');
  const limit = MOST;
  if (wanted === 'namespaces') {
    const { body } = await session.cluster.client.get('/api/v1/namespaces', { query: { limit } });
    return NAMESPACES.parse(body).items.map(({ metadata }) => metadata.name);
  }
  const api = await session.admin();
  if (wanted === 'workloads') {
    const kind = workloadKindOf(kindWord);
    if (kind === undefined) return [];
    const { items } = await listed(api, 'listWorkloads', { query: { namespace, kind }, limit });
    return items.map(({ name }) => `${kindWord}/${name}`);
  }
  if (wanted === 'sources') {
    const kind = sourceKindOf(kindWord);
    if (kind === undefined) return [];
    const { items } = await listed(api, 'listSources', { query: { namespace, kind }, limit });
    return items.map(({ name }) => `${kindWord}/${name}`);
  }
  if (wanted === 'changes') {
    const { items } = await listed(api, 'listChanges', { query: { namespace }, limit });
    return items.map(({ id }) => id);
  }
  const { items } = await listed(api, 'listJobs', { query: { state: 'failed' }, limit });
  return items.map(({ id }) => id);
}
