import type { ChangeWorkload } from '@reroll/shared/api/changes';
import { STATES } from '../../words.ts';

/** Workloads for which the rules decided by the same reason. */
export interface Group {
  readonly key: string;
  readonly verdict: ChangeWorkload['verdict'];
  readonly reason: ChangeWorkload['reason'];
  /** What the rules said of all of them; empty if that is not known. */
  readonly detail: string;
  readonly workloads: readonly ChangeWorkload[];
}

const STATE_ORDER = Object.keys(STATES);

/** Those that reload first, so that a reason is written once and not for each workload. In each group, what went wrong comes first. */
export function groupsOf(workloads: readonly ChangeWorkload[]): Group[] {
  const groups = new Map<string, Group & { readonly workloads: ChangeWorkload[] }>();
  const rank = ({ state }: ChangeWorkload): number => STATE_ORDER.indexOf(state);
  for (const workload of workloads.toSorted((one, other) => rank(one) - rank(other))) {
    const { verdict, reason } = workload;
    const detail = ruleDetail(workload, workloads);
    const key = `${verdict} ${reason} ${detail}`;
    const group = groups.get(key) ?? { key, verdict, reason, detail, workloads: [] };
    group.workloads.push(workload);
    groups.set(key, group);
  }
  return [...groups.values()].toSorted((one, other) => one.verdict.localeCompare(other.verdict));
}

/** Of a held workload the API tells of the hold instead: it joins the first others of its reason. */
function ruleDetail(of: ChangeWorkload, all: readonly ChangeWorkload[]): string {
  if (of.state !== 'held') return of.detail;
  const { verdict, reason } = of;
  const like = all.find(
    (each) => each.state !== 'held' && each.verdict === verdict && each.reason === reason,
  );
  return like?.detail ?? '';
}
