import type { JSX } from 'preact';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import { STATES, type ReloadState } from '../../words.ts';
import { Badge } from '../badge.tsx';

/** How many workloads of a change are in each state, of those that are listed. */
export function StateCounts({ states, more }: Pick<ChangeSummary, 'states' | 'more'>): JSX.Element {
  const present = (Object.keys(STATES) as ReloadState[]).filter((state) => (states[state] ?? 0) > 0);
  if (present.length === 0) return <span class="muted">No workload</span>;
  return (
    <span class="badges">
      {present.map((state) => (
        <Badge key={state} look={STATES[state]} count={states[state]} />
      ))}
      {more ? <span class="muted">and {more.woken + more.leftAlone} more</span> : null}
    </span>
  );
}
