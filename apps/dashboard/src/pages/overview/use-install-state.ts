import { useRef } from 'preact/hooks';
import type { Workload } from '@reroll/shared/api/workloads';
import { call, CallError } from '../../api/client.ts';
import { keyOf, refOf } from '../../names.ts';
import { status } from '../../state/status.ts';
import { useAnswer, useAsked, type Answered } from '../../use-answer.ts';
import { installState, keysToLookAt, type InstallState } from './install-state.ts';

/** Of each list; the API has no totals. */
const MOST = '200';
/** Workloads that are looked at one by one: each is a request. */
const MOST_LOOKED_AT = 10;

export interface InstallAnswer {
  /** Undefined while it is not known. */
  readonly state: InstallState | undefined;
  /** Whether the lists go on, so that there is more of something than was counted. */
  readonly isCut: boolean;
  /** Whether there is no workload at all that the caller may see. */
  readonly isEmpty: boolean;
  readonly error: CallError | undefined;
  readonly refresh: () => void;
}

/** Asks for what the overview is about: what needs attention and what is in progress. */
export function useInstallState(): InstallAnswer {
  const stuck = useAnswer('listWorkloads', { query: { rollout: 'stuck', limit: MOST } });
  const moving = useAnswer('listWorkloads', { query: { rollout: 'progressing', limit: MOST } });
  const pending = useAnswer('listWorkloads', { query: { due: 'owed', limit: MOST } });
  const failedJobs = useAnswer('listJobs', { query: { state: 'failed', limit: MOST } });
  const halted = useAnswer('listChanges', { query: { halted: 'true', limit: MOST } });
  const any = useAnswer('listWorkloads', { query: { limit: '1' } });
  const counted = [stuck, moving, pending, failedJobs, halted];
  const lists = [...counted, any];
  const found = {
    stuck: itemsOf(stuck),
    moving: itemsOf(moving),
    pending: itemsOf(pending),
    failedJobs: itemsOf(failedJobs),
    halted: itemsOf(halted),
  };
  const looked = useWorkloads(keysToLookAt(found, MOST_LOOKED_AT));
  const { details } = looked;
  const warnings = status.value?.warnings ?? [];
  const isKnown = lists.every(({ data }) => data !== undefined);
  return {
    state: isKnown ? installState({ ...found, details, warnings }) : undefined,
    isCut: counted.some(({ data }) => data && data.next !== null),
    isEmpty: any.data?.items.length === 0,
    error: [...lists, looked].find(({ error }) => error !== undefined)?.error,
    refresh: () => lists.forEach(({ refresh }) => refresh()),
  };
}

function itemsOf<Item>({ data }: Answered<{ readonly items: readonly Item[] }>): readonly Item[] {
  return data?.items ?? [];
}

interface Looked {
  readonly details: ReadonlyMap<string, Workload>;
  readonly error: CallError | undefined;
}

/** Workloads by their keys. Those known before stay while others are asked for, or if there is no answer; one that is gone is left out. */
function useWorkloads(keys: readonly string[]): Looked {
  const last = useRef<ReadonlyMap<string, Workload>>(new Map());
  const { data, error } = useAsked(
    `workloads ${keys.toSorted().join(' ')}`,
    async (signal) => {
      const workloads = await Promise.all(keys.map((key) => workloadOf(key, signal)));
      return new Map(workloads.flatMap((each) => (each ? [[keyOf(each), each] as const] : [])));
    },
    'news',
  );
  last.current = data ?? last.current;
  return { details: last.current, error };
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
