import { keyOf } from '../../names.ts';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import type { Job } from '@reroll/shared/api/queues';
import type { WorkloadSummary } from '@reroll/shared/api/workloads';
import {
  failedItem,
  failedJobItem,
  haltedItem,
  pendingItem,
  PROBLEMS,
  stuckItem,
  type AttentionItem,
  type Details,
} from './attention-items.ts';

export interface InstallFacts {
  readonly warnings: readonly string[];
  readonly stuck: readonly WorkloadSummary[];
  readonly moving: readonly WorkloadSummary[];
  readonly pending: readonly WorkloadSummary[];
  readonly failed: readonly WorkloadSummary[];
  readonly failedJobs: readonly Job[];
  readonly halted: readonly ChangeSummary[];
  /** Of the list of workloads that are stale since adoption; it is cut if it has a `next`. */
  readonly stale: { readonly items: readonly WorkloadSummary[]; readonly next: string | null };
  readonly details: Details;
}

export interface InstallState {
  readonly attention: readonly AttentionItem[];
  /** Numbers of workloads. */
  readonly rollingOut: number;
  readonly pending: number;
  /** Stale since adoption, and none of the above. */
  readonly stale: number;
  readonly isStaleCut: boolean;
}

/** What needs attention and what is in progress; a workload counts once. */
export function installState(facts: InstallFacts): InstallState {
  const items = [
    ...facts.warnings.map((why) => ({ key: why, problem: 'warning', since: null, why }) as const),
    ...facts.stuck.map((workload) => stuckItem(workload, facts.details)),
    ...facts.failedJobs.map(failedJobItem),
    ...facts.halted.map(haltedItem),
    ...facts.pending.flatMap((each) => pendingItem(each, facts.details, facts.halted.length > 0)),
    ...facts.failed.flatMap(failedItem),
  ];
  const attention = onceEach(items).toSorted(
    (one, other) => PROBLEMS.indexOf(one.problem) - PROBLEMS.indexOf(other.problem),
  );
  const inTrouble = new Set(attention.map(({ key }) => key));
  const fine = (workloads: readonly WorkloadSummary[]): string[] =>
    workloads.map(keyOf).filter((key) => !inTrouble.has(key));
  const moving = new Set(fine(facts.moving));
  const pending = fine(facts.pending);
  const open = new Set([...moving, ...pending]);
  return {
    attention,
    rollingOut: moving.size,
    pending: pending.filter((key) => !moving.has(key)).length,
    stale: fine(facts.stale.items).filter((key) => !open.has(key)).length,
    isStaleCut: facts.stale.next !== null,
  };
}

/** The first one of a subject stays. */
function onceEach(items: readonly AttentionItem[]): AttentionItem[] {
  const seen = new Set<string>();
  return items.filter(({ key }) => !seen.has(key) && seen.add(key));
}

/** Keys of the workloads that are worth a look, the most telling first. */
export function keysToLookAt(facts: Pick<InstallFacts, 'stuck' | 'pending'>, most: number): string[] {
  // Of others, the list tells everything.
  const waiting = facts.pending.filter(({ contested, hold }) => contested || hold);
  return [...new Set([...facts.stuck, ...waiting].map(keyOf))].slice(0, most);
}
