import type { ChangeWorkload } from '@reroll/shared/api/changes';
import type { Source, Workload, WorkloadSummary } from '@reroll/shared/api/workloads';
import { call, CallError } from '../../api/client.ts';
import { rolloutFor } from '../../dependency-state.ts';
import { keyOf } from '../../names.ts';
import { useAsked, type Answered } from '../../use-answer.ts';

/** How far the workloads of a source are, by key. */
export interface WorkloadsProgress {
  /** For this source. */
  readonly rollouts: ReadonlyMap<string, Workload['rollout']>;
  /** What became of them at the latest change. */
  readonly latest: ReadonlyMap<string, ChangeWorkload>;
}

/** Pages of rollouts that are read: a thousand of each state. */
const MOST_PAGES = 5;

/** Asks for what the source itself does not tell. */
export function useProgress(source: Source): Answered<WorkloadsProgress> {
  const isPending = source.workloadsInDetail.some(({ due }) => due === 'owed');
  return useAsked(
    `progress ${keyOf(source)} ${isPending}`,
    async (signal) => {
      const [moving, stuck, latest] = await Promise.all([
        rolloutsOf('progressing', source.namespace, signal),
        rolloutsOf('stuck', source.namespace, signal),
        isPending ? latestOf(source, signal) : [],
      ]);
      return {
        rollouts: new Map([...moving, ...stuck].map((each) => [keyOf(each), rolloutFor(source, each)])),
        latest: new Map(latest.map((each) => [keyOf(each.workload), each])),
      };
    },
    'news',
  );
}

async function rolloutsOf(
  rollout: Workload['rollout'],
  namespace: string,
  signal: AbortSignal,
): Promise<readonly WorkloadSummary[]> {
  const found: WorkloadSummary[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const query = { rollout, namespace, limit: '200', cursor };
    const page = await call('listWorkloads', { query }, signal);
    found.push(...page.items);
    if (page.next === null) break;
    cursor = page.next;
  }
  return found;
}

/** The workloads of the source's latest change. */
async function latestOf(source: Source, signal: AbortSignal): Promise<readonly ChangeWorkload[]> {
  const { items } = await call('listChanges', { query: { source: keyOf(source), limit: '1' } }, signal);
  const [latest] = items;
  if (!latest) return [];
  try {
    return (await call('getChange', { params: { id: latest.id } }, signal)).workloads;
  } catch (error) {
    // The history has dropped it.
    if (error instanceof CallError && error.status === 404) return [];
    throw error;
  }
}
