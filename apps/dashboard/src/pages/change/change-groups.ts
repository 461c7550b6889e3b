import type { ChangeWorkload } from '@reroll/shared/api/changes';

/** Workloads for which the rules decided by the same reason. */
export interface Group {
  readonly verdict: ChangeWorkload['verdict'];
  readonly reason: ChangeWorkload['reason'];
  /** What the rules said of all of them; empty if that differs. */
  readonly detail: string;
  readonly workloads: readonly ChangeWorkload[];
}

/** Those that reload first, so that a reason is written once and not for each workload. */
export function groupsOf(workloads: readonly ChangeWorkload[]): Group[] {
  const groups = Map.groupBy(workloads, ({ verdict, reason }) => `${verdict} ${reason}`);
  return [...groups.values()]
    .flatMap((members) => {
      const [first] = members;
      return first
        ? [
            {
              verdict: first.verdict,
              reason: first.reason,
              detail: sharedDetail(members),
              workloads: members,
            },
          ]
        : [];
    })
    .toSorted((one, other) => one.verdict.localeCompare(other.verdict));
}

/** Of a held workload the API tells of the hold instead. */
function sharedDetail(members: readonly ChangeWorkload[]): string {
  const told = members.filter(({ state }) => state !== 'held').map(({ detail }) => detail);
  const [first = ''] = told;
  return told.every((detail) => detail === first) ? first : '';
}
