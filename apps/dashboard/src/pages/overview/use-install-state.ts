import { useRef } from 'preact/hooks';
import type { Workload } from '@reroll/shared/api/workloads';
import type { Answer } from '../../api/calls.ts';
import { call, CallError } from '../../api/client.ts';
import { refOf } from '../../names.ts';
import { route } from '../../router.ts';
import { deeds } from '../../state/live.ts';
import { status } from '../../state/status.ts';
import { useAnswer, useAsked, type Answered } from '../../use-answer.ts';
import { installState, keysToLookAt, type InstallState } from './install-state.ts';
import { failureOf, isTold, type ListFailure } from './list-failure.ts';
import { WorkloadLooks, type Looked } from './workload-looks.ts';

/** Of each list; the API has no totals. */
const MOST = '200';
/** Workloads that are looked at one by one: each is a request. */
const MOST_LOOKED_AT = 10;

export interface InstallAnswer {
  /** Undefined while it is not known. */
  readonly state: InstallState | undefined;
  /** Whether a list goes on or is not known, so that there may be more of something than was counted. */
  readonly isCut: boolean;
  /** Whether no workload that the caller may see reloads for any source. */
  readonly isUnused: boolean;
  readonly failure: ListFailure | undefined;
  readonly refresh: () => void;
}

/** Asks for what the overview is about: what needs attention and what is in progress. */
export function useInstallState(): InstallAnswer {
  const { namespace } = route.value;
  const stuck = useWorkloadsWith({ rollout: 'stuck' });
  const moving = useWorkloadsWith({ rollout: 'progressing' });
  const pending = useWorkloadsWith({ due: 'owed' });
  const failed = useWorkloadsWith({ due: 'failed' });
  // No event tells of a change job or a notification that has failed, and an answer takes many rows.
  const failedJobs = useAnswer(
    'listJobs',
    { query: { state: 'failed', unresolved: 'true', limit: MOST } },
    'pulse',
  );
  const halted = useAnswer('listChanges', { query: { namespace, halted: 'true', limit: MOST } }, 'slow');
  const stale = useWorkloadsWith({ due: 'stale' });
  const used = useUsed(namespace);
  const counted = [stuck, moving, pending, failed, failedJobs, halted];
  const found = {
    stuck: itemsOf(stuck),
    moving: itemsOf(moving),
    pending: itemsOf(pending),
    failed: itemsOf(failed),
    failedJobs: itemsOf(failedJobs).filter(
      ({ subject }) => namespace === '' || refOf(subject ?? '')?.namespace === namespace,
    ),
    halted: itemsOf(halted),
    stale: stale.data ?? { items: [], next: null },
  };
  const looked = useWorkloads(keysToLookAt(found, MOST_LOOKED_AT));
  const lists = [
    { what: 'stuck workloads', ...stuck },
    { what: 'workloads that roll out', ...moving },
    { what: 'pending workloads', ...pending },
    { what: 'failed workloads', ...failed },
    { what: 'failed jobs', ...failedJobs },
    { what: 'halted changes', ...halted },
    { what: 'stale workloads', ...stale },
    { what: 'workloads', ...used },
  ];
  const { details } = looked.data ?? NOTHING_LOOKED_AT;
  const warnings = status.value?.warnings ?? [];
  return {
    state: isTold(lists) ? installState({ ...found, details, warnings }) : undefined,
    isCut: counted.some(({ data }) => data?.next !== null),
    isUnused: used.data !== undefined && !isUsed(used.data),
    failure: failureOf(lists) ?? lookFailure(looked),
    refresh: () => [...lists, looked].forEach(({ refresh }) => refresh()),
  };
}

function useWorkloadsWith(
  filter: Readonly<Record<string, string>>,
): ReturnType<typeof useAnswer<'listWorkloads'>> {
  const { namespace } = route.value;
  return useAnswer('listWorkloads', { query: { namespace, ...filter, limit: MOST } }, 'slow');
}

/** The first workloads, asked for until one of them reloads for a source. */
function useUsed(namespace: string): ReturnType<typeof useAnswer<'listWorkloads'>> {
  const foundIn = useRef<string | undefined>(undefined);
  const query = { namespace, limit: MOST };
  const first = useAnswer('listWorkloads', { query }, foundIn.current === namespace ? 'once' : 'slow');
  if (first.data !== undefined && isUsed(first.data)) foundIn.current = namespace;
  return first;
}

/** Further pages may have one. */
function isUsed({ items, next }: Answer<'listWorkloads'>): boolean {
  return next !== null || items.some(({ sources }) => sources > 0);
}

function itemsOf<Item>({ data }: Answered<{ readonly items: readonly Item[] }>): readonly Item[] {
  return data?.items ?? [];
}

const NOTHING_LOOKED_AT: Looked = { details: new Map(), error: undefined, knownAt: undefined };

/** Workloads by their keys. Those known before stay while others are asked for, or if there is no answer. */
function useWorkloads(keys: readonly string[]): Answered<Looked> {
  const looks = useRef(new WorkloadLooks());
  const last = useRef<Looked | undefined>(undefined);
  const answer = useAsked(
    `workloads ${keys.toSorted().join(' ')}`,
    async (signal) =>
      await looks.current.look(keys, async (key) => await workloadOf(key, signal), { epoch: deeds.peek() }),
    'slow',
  );
  last.current = answer.data ?? last.current;
  return { ...answer, data: last.current };
}

function lookFailure({ data }: Answered<Looked>): ListFailure | undefined {
  if (!(data?.error instanceof CallError)) return undefined;
  const { error, knownAt } = data;
  return { error, what: 'pending workloads', knownAt };
}

async function workloadOf(key: string, signal: AbortSignal): Promise<Workload | undefined> {
  const ref = refOf(key);
  if (!ref) return undefined;
  try {
    return await call('getWorkload', { params: { ...ref } }, signal);
  } catch (error) {
    // It was deleted after the list was read.
    if (error instanceof CallError && error.status === 404) return undefined;
    throw error;
  }
}
