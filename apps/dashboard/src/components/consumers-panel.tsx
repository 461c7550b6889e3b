import type { JSX } from 'preact';
import type { Consumer, Consumers as ConsumersData } from '@reroll/shared/api/consumers';
import { keyOf, type Ref } from '../names.ts';
import { useAnswer } from '../use-answer.ts';
import { CONSUMER_STATES, counted, USES } from '../words.ts';
import { Answer } from './answer.tsx';
import { Badge } from './badge.tsx';
import { OnDemandPanel } from './on-demand-panel.tsx';
import { Portion } from './portion.tsx';
import { Table, type Column } from './tables/table.tsx';
import { Time } from './time.tsx';

/** Which containers have older data of a source. Pods are read only when somebody asks, because that may be thousands. */
export function ConsumersPanel({ of }: { of: Ref }): JSX.Element {
  return (
    <OnDemandPanel
      title="Containers with older data"
      verb="Check"
      hint="Asks the API server for the pods of the namespace, with your rights."
    >
      <Consumers of={of} />
    </OnDemandPanel>
  );
}

function Consumers({ of: { kind, namespace, name } }: { of: Ref }): JSX.Element {
  const answer = useAnswer('getConsumers', { params: { kind, namespace, name } }, 'once');
  return (
    <Answer of={answer} what="the pods">
      {(data) => (
        <>
          <p class="conclusion" role="status">
            {data.conclusion}
          </p>
          <Counts of={data} />
          <ConsumerTable of={data} />
        </>
      )}
    </Answer>
  );
}

const COLUMNS: readonly Column<Consumer>[] = [
  { header: 'Pod', cell: ({ pod }) => <code>{pod}</code> },
  {
    header: 'Container',
    width: 'tight',
    cell: ({ container }) =>
      container === null ? <span class="muted">The pod as a whole</span> : <code>{container}</code>,
  },
  { header: 'Use', width: 'tight', cell: ({ use }) => USES[use] },
  { header: 'Data', width: 'tight', cell: ({ state }) => <Badge look={CONSUMER_STATES[state]} /> },
  { header: 'Stale since', width: 'tight', cell: ({ since }) => <Time at={since} /> },
  { header: 'Why', width: 'wide', cell: ({ why }) => why },
];

/** Rows that are shown without a click. */
const FIRST = 25;

function Counts({ of: { counts } }: { of: ConsumersData }): JSX.Element {
  const states = Object.keys(CONSUMER_STATES) as Consumer['state'][];
  return (
    <p class="badges">
      {states.map((state) =>
        counts[state] === 0 ? null : (
          <Badge key={state} look={CONSUMER_STATES[state]} count={counts[state]} />
        ),
      )}
    </p>
  );
}

function ConsumerTable({ of: { source, items, counts } }: { of: ConsumersData }): JSX.Element {
  const more = counts.stale + counts.unknown + counts.current - items.length;
  return (
    <>
      <Portion items={items} first={FIRST} what="uses">
        {(shown) => (
          <Table
            caption={`Containers that use ${keyOf(source)}`}
            columns={COLUMNS}
            rows={shown}
            keyOf={({ pod, container, use }) => `${pod} ${container} ${use}`}
            empty="No running container that uses it was found."
          />
        )}
      </Portion>
      {more > 0 ? (
        <p class="muted">
          {counted(more, 'further use')} of it {more === 1 ? 'is' : 'are'} not listed.
        </p>
      ) : null}
    </>
  );
}
