import type { JSX } from 'preact';
import type { Change as ChangeData, ChangeWorkload } from '@reroll/shared/api/changes';
import { Answer } from '../components/answer.tsx';
import { Badge } from '../components/badge.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Facts, Panel } from '../components/panel.tsx';
import { ExplainLink, RefLink } from '../components/refs.tsx';
import { PodCount } from '../components/rollout-facts.tsx';
import { Table, type Column } from '../components/tables/table.tsx';
import { Time } from '../components/time.tsx';
import { WavesPanel } from '../components/waves-panel.tsx';
import { Hash, Why } from '../components/words.tsx';
import { keyOf } from '../names.ts';
import { hrefOf } from '../router.ts';
import { useAnswer } from '../use-answer.ts';
import { CAUSES, CAUSE_WORDS, STATES } from '../words.ts';

export function Change({ id }: { id: string }): JSX.Element {
  const change = useAnswer('getChange', { params: { id } }, 'both');
  return (
    <>
      <PageHead kind="Change" title={change.data ? titleOf(change.data) : id} />
      <Answer of={change} what="the change">
        {(data) => (
          <>
            <Summary change={data} />
            {data.source ? <WavesPanel of={data.source} hash={data.to} /> : null}
            <Workloads change={data} />
          </>
        )}
      </Answer>
    </>
  );
}

function titleOf({ source, cause, request }: ChangeData): string {
  if (source) return `${source.kind} ${source.name} ${CAUSE_WORDS[cause]}`;
  return `Reload requested by ${request?.actor ?? 'somebody'}`;
}

function Summary({ change }: { change: ChangeData }): JSX.Element {
  const { source, cause, seenAt, takenUpAt, from, to, request, merged } = change;
  return (
    <Panel title="Summary">
      <Facts
        facts={[
          ['Source', source ? <RefLink of={source} /> : 'None: a user requested it'],
          ['Cause', CAUSES[cause]],
          ...(merged === undefined
            ? []
            : ([['Merged', `${merged} earlier changes that reloaded nothing`]] as const)),
          ['Seen', <Time at={seenAt} />],
          ['Picked up', <Time at={takenUpAt} none="Not yet" />],
          ...(source ? ([['Data', <FromTo from={from} to={to} />]] as const) : []),
          ...(request
            ? ([
                ['Requested by', request.actor],
                ['Reason', request.reason],
              ] as const)
            : []),
        ]}
      />
    </Panel>
  );
}

function FromTo({ from, to }: { from: string | null; to: string | null }): JSX.Element {
  return (
    <span>
      <Hash hash={from} /> <span class="muted">to</span> <Hash hash={to} />
    </span>
  );
}

function Workloads({ change }: { change: ChangeData }): JSX.Element {
  const { source } = change;
  const columns: readonly Column<ChangeWorkload>[] = [
    { header: 'Workload', cell: ({ workload }) => <RefLink of={workload} /> },
    { header: 'State', width: 'tight', cell: (each) => <State of={each} /> },
    { header: 'Why', width: 'wide', cell: (each) => <Reasons of={each} /> },
    { header: 'Decided', width: 'tight', cell: ({ decidedAt }) => <Time at={decidedAt} /> },
    { header: 'Ended', width: 'tight', cell: ({ endedAt }) => <Time at={endedAt} /> },
    ...(source ? [rulesOf(source)] : []),
  ];
  return (
    <Panel title="Workloads">
      <Table
        caption="Workloads of this change"
        columns={columns}
        rows={change.workloads}
        keyOf={({ workload }) => keyOf(workload)}
        empty="No workload that you may see depends on it."
      />
      <More change={change} />
    </Panel>
  );
}

/** What the history only counts. */
function More({ change: { more, counted, source } }: { change: ChangeData }): JSX.Element | null {
  if (!more) return null;
  const outcomes = Object.entries(counted ?? {}).map(([reason, count]) => `${count} ${reason}`);
  return (
    <p class="muted">
      {more.woken > 0 ? `and ${more.woken} more with a reload job. ` : null}
      {outcomes.length > 0 ? `What came of them: ${outcomes.join(', ')}. ` : null}
      {more.leftAlone > 0 ? `${more.leftAlone} more were left alone. ` : null}
      {source ? <a href={hrefOf('explain', [], { source: keyOf(source) })}>Explain any of them</a> : null}
    </p>
  );
}

function rulesOf(source: NonNullable<ChangeData['source']>): Column<ChangeWorkload> {
  return {
    header: 'Rules',
    width: 'tight',
    cell: ({ workload }) => <ExplainLink workload={workload} source={source} of={workload} />,
  };
}

function State({ of: { state, until, rollout } }: { of: ChangeWorkload }): JSX.Element {
  return (
    <>
      <Badge look={STATES[state]} />
      {until === null ? null : (
        <p class="muted">
          until <Time at={until} />
        </p>
      )}
      {rollout ? (
        <p class="muted">
          <PodCount rollout={rollout} />
        </p>
      ) : null}
    </>
  );
}

/** What the rules said, what came of it, and what went wrong. */
function Reasons({ of }: { of: ChangeWorkload }): JSX.Element {
  const { reason, detail, outcome, attempts, error } = of;
  return (
    <>
      <Why reason={reason} detail={detail} />
      {outcome === null || outcome === reason ? null : (
        <p>
          <Why reason={outcome} />
        </p>
      )}
      {attempts && attempts.made > 1 ? (
        <p class="muted">
          {attempts.made} attempts{attempts.most === null ? '' : ` of ${attempts.most}`}
        </p>
      ) : null}
      {error === null ? null : <p class="bad-text">{error}</p>}
    </>
  );
}
