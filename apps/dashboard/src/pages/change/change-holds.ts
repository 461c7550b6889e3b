import type { ChangeWorkload } from '@reroll/shared/api/changes';

/** Workloads that are held for the same reason. */
export interface HoldGroup {
  readonly reason: ChangeWorkload['reason'];
  /** What is said of all of them; empty if it differs. */
  readonly detail: string;
  readonly workloads: readonly ChangeWorkload[];
}

/** What holds the workloads of a change, the reason of most of them first. */
export function holdsOf(workloads: readonly ChangeWorkload[]): HoldGroup[] {
  const held = workloads.filter(({ state }) => state === 'held');
  return [...Map.groupBy(held, ({ outcome, reason }) => outcome ?? reason)]
    .map(([reason, of]) => ({ reason, workloads: of, detail: commonDetail(of) }))
    .toSorted((one, other) => other.workloads.length - one.workloads.length);
}

function commonDetail([first, ...others]: readonly ChangeWorkload[]): string {
  return first && others.every(({ detail }) => detail === first.detail) ? first.detail : '';
}
