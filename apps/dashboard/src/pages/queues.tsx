import type { JSX } from 'preact';
import type { Queue } from '@reroll/shared/api/queues';
import { call } from '../api/client.ts';
import { Action } from '../components/action.tsx';
import { Answer } from '../components/answer.tsx';
import { Panel } from '../components/panel.tsx';
import { Table, type Column } from '../components/tables/table.tsx';
import { maySteer } from '../state/status.ts';
import { lasting } from '../time.ts';
import { useAnswer } from '../use-answer.ts';
import { QUEUES } from '../words.ts';

export const QUEUE_NAME: Column<Queue> = {
  header: 'Queue',
  width: 'wide',
  cell: ({ name, paused }) => (
    <span title={QUEUES[name]}>
      {name}
      {paused ? <strong class="paused"> paused</strong> : null}
    </span>
  ),
};

export const QUEUE_TROUBLE: readonly Column<Queue>[] = [
  { header: 'Failed', width: 'tight', cell: ({ counts }) => counts.failed },
  { header: 'Lag', width: 'tight', cell: ({ oldestDueSeconds }) => lasting(oldestDueSeconds) },
];

const COLUMNS: readonly Column<Queue>[] = [
  QUEUE_NAME,
  { header: 'Waiting', width: 'tight', cell: ({ counts }) => counts.waiting },
  { header: 'Delayed', width: 'tight', cell: ({ counts }) => counts.delayed },
  { header: 'Running', width: 'tight', cell: ({ counts }) => counts.active },
  ...QUEUE_TROUBLE,
];

export function Queues(): JSX.Element {
  const queues = useAnswer('listQueues', {}, 'pulse');
  const steer: Column<Queue> = {
    header: 'Actions',
    width: 'tight',
    cell: (queue) => <PauseOrResume queue={queue} onDone={queues.refresh} />,
  };
  const columns = maySteer() ? [...COLUMNS, steer] : COLUMNS;
  return (
    <Panel title="Queues">
      <Answer of={queues} what="queues">
        {({ items }) => (
          <Table
            caption="Queues"
            columns={columns}
            rows={items}
            keyOf={({ name }) => name}
            empty="No queue."
          />
        )}
      </Answer>
    </Panel>
  );
}

function PauseOrResume({ queue, onDone }: { queue: Queue; onDone: () => void }): JSX.Element {
  const { name, paused } = queue;
  const word = paused ? 'Resume' : 'Pause';
  return (
    <Action
      key={word}
      label={word}
      title={`${word} the queue ${name}`}
      done={`The queue ${name} is ${paused ? 'resumed' : 'paused'}`}
      run={async ({ reason, idempotencyKey }) => {
        const id = paused ? 'resumeQueue' : 'pauseQueue';
        await call(id, { params: { name }, body: { reason }, idempotencyKey });
        onDone();
      }}
    >
      <p>
        {paused
          ? 'Workers take its jobs again.'
          : 'Workers take no jobs from it until it is resumed. Nothing is lost.'}
      </p>
    </Action>
  );
}
