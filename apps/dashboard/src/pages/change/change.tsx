import type { JSX } from 'preact';
import type { Change as ChangeData } from '@reroll/shared/api/changes';
import { Answer } from '../../components/answer.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Facts, Panel } from '../../components/panel.tsx';
import { RefLink } from '../../components/refs.tsx';
import { Time } from '../../components/time.tsx';
import { useWaves, WavesPanel } from '../../components/waves-panel.tsx';
import { Hash } from '../../components/words.tsx';
import { useAnswer } from '../../use-answer.ts';
import { wavePlaces } from '../../wave-places.ts';
import { CAUSES, CAUSE_WORDS, counted } from '../../words.ts';
import { ChangeHeld } from './change-held.tsx';
import { ChangeWorkloads } from './change-workloads.tsx';

export function Change({ id }: { id: string }): JSX.Element {
  const change = useAnswer('getChange', { params: { id } }, 'both');
  const waves = useWaves(sourceOf(change.data));
  return (
    <>
      <PageHead kind="Change" title={change.data ? titleOf(change.data) : id} />
      <Answer of={change} what="the change">
        {(data) => (
          <>
            <Summary change={data} />
            {data.source ? <WavesPanel of={data.source} answer={waves} hash={data.to} /> : null}
            <ChangeHeld change={data} />
            <ChangeWorkloads change={data} waves={wavePlaces(waves.data, data.to)} />
          </>
        )}
      </Answer>
    </>
  );
}

/** Null: there is none, or its present waves are those of a later change, even if the data is the same. */
function sourceOf(change: ChangeData | undefined): ChangeData['source'] {
  return change && !change.overtaken ? change.source : null;
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
            : ([['Merged', `${counted(merged, 'earlier change')} that reloaded nothing`]] as const)),
          ['Seen', <Time at={seenAt} />],
          ['Decided', <Time at={takenUpAt} />],
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
