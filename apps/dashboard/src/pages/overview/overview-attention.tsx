import type { JSX } from 'preact';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import type { WorkloadSummary } from '@reroll/shared/api/workloads';
import { Answer } from '../../components/answer.tsx';
import { Badge } from '../../components/badge.tsx';
import { Panel } from '../../components/panel.tsx';
import { RefLink } from '../../components/refs.tsx';
import { Time } from '../../components/time.tsx';
import { spoken } from '../../names.ts';
import { hrefOf } from '../../router.ts';
import { useAnswer } from '../../use-answer.ts';
import { ROLLOUTS, STATES, counted } from '../../words.ts';

const MOST = '5';

/** Failures: reloads that failed for good, and rollouts that are stuck. */
export function Attention(): JSX.Element {
  const stuck = useAnswer('listWorkloads', { query: { rollout: 'stuck', limit: MOST } });
  const failed = useAnswer('listChanges', { query: { state: 'failed', limit: MOST } });
  return (
    <Panel title="Failures">
      <Answer of={stuck} what="stuck rollouts">
        {(workloads) => (
          <Answer of={failed} what="failed reloads">
            {(changes) => <Failures workloads={workloads.items} changes={changes.items} />}
          </Answer>
        )}
      </Answer>
    </Panel>
  );
}

/** A banner for changes whose waves have stopped. */
export function Halted(): JSX.Element | null {
  const { data } = useAnswer('listChanges', { query: { halted: 'true', limit: MOST } });
  const halted = data?.items ?? [];
  if (halted.length === 0) return null;
  return (
    <section class="trouble" aria-label="Halted changes">
      <ul>
        {halted.map(({ id, source, halted: waiting }) => (
          <li key={id}>
            <a href={hrefOf('changes', [id])}>
              The change of {source ? spoken(source) : 'a source'} is halted
            </a>
            : a workload has failed, and {counted(waiting, 'workload')} {waiting === 1 ? 'waits' : 'wait'} for
            it.
          </li>
        ))}
      </ul>
    </section>
  );
}

interface FailuresProps {
  readonly workloads: readonly WorkloadSummary[];
  readonly changes: readonly ChangeSummary[];
}

function Failures({ workloads, changes }: FailuresProps): JSX.Element {
  if (workloads.length + changes.length === 0) {
    return <p class="empty">None: no rollout is stuck, and no reload in the history failed for good.</p>;
  }
  return (
    <ul class="attention">
      {workloads.map((workload) => (
        <li key={`${workload.kind}/${workload.namespace}/${workload.name}`}>
          <Badge look={ROLLOUTS.stuck} /> <RefLink of={workload} />
        </li>
      ))}
      {changes.map(({ id, source, seenAt, states }) => (
        <li key={id}>
          <Badge look={STATES.failed} /> <Time at={seenAt} />{' '}
          <a href={hrefOf('changes', [id])}>
            {counted(states.failed ?? 0, 'workload')} at a change of {source?.name ?? 'a person’s request'}
          </a>
        </li>
      ))}
      {changes.length === Number(MOST) ? (
        <li>
          <a href={hrefOf('changes', [], { state: 'failed' })}>All that failed</a>
        </li>
      ) : null}
    </ul>
  );
}
