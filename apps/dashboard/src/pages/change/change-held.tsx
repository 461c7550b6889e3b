import type { JSX } from 'preact';
import type { Change } from '@reroll/shared/api/changes';
import { Panel } from '../../components/panel.tsx';
import { RefLink } from '../../components/refs.tsx';
import { Why } from '../../components/words.tsx';
import { keyOf } from '../../names.ts';
import { counted } from '../../words.ts';
import { holdsOf, type HoldGroup } from './change-holds.ts';

/** Named without a click; the list of workloads has them all. */
const FEW = 3;

/** What of a change is held, and why. Nothing if nothing is. */
export function ChangeHeld({ change }: { change: Change }): JSX.Element | null {
  const holds = holdsOf(change.workloads);
  if (holds.length === 0) return null;
  return (
    <Panel title="Held">
      <ul class="held">
        {holds.map((hold) => (
          <Hold key={hold.reason} of={hold} />
        ))}
      </ul>
      {change.more ? <p class="muted">Only workloads that the history lists are counted.</p> : null}
    </Panel>
  );
}

function Hold({ of: { reason, detail, workloads } }: { of: HoldGroup }): JSX.Element {
  const named = workloads.slice(0, FEW);
  return (
    <li>
      <strong>{counted(workloads.length, 'workload')}</strong>
      <div>
        <p>
          <Why reason={reason} detail={detail} />
        </p>
        <p class="held-names">
          {named.map(({ workload }) => (
            <RefLink key={keyOf(workload)} of={workload} />
          ))}
          {workloads.length > FEW ? (
            <span class="muted">and {workloads.length - FEW} more, below</span>
          ) : null}
        </p>
      </div>
    </li>
  );
}
