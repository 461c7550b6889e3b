import type { JSX } from 'preact';
import type { Waves } from '@reroll/shared/api/waves';
import { call } from '../api/client.ts';
import { keyOf, spoken, type Ref } from '../names.ts';
import { mayHold } from '../state/status.ts';
import { tellDeed } from '../state/live.ts';
import { useAsked, type Answered } from '../use-answer.ts';
import { counted, WAVES } from '../words.ts';
import { Action } from './action.tsx';
import { Trouble } from './answer.tsx';
import { Badge } from './badge.tsx';
import { Panel } from './panel.tsx';
import { RefLink } from './refs.tsx';
import { Table, type Column } from './tables/table.tsx';
import { Time } from './time.tsx';
import { useSeen } from './use-seen.ts';
import { Words } from './words.tsx';

type Wave = NonNullable<Waves['plan']>[number] & { readonly number: number };

/** Asks for the waves of a source. Null: there is no source to ask for. */
export function useWaves(of: Ref | null): Answered<Waves | null> {
  return useAsked<Waves | null>(
    `waves ${of ? keyOf(of) : ''}`,
    async (signal) => (of ? await call('getWaves', { params: { ...of } }, signal) : null),
    'both',
  );
}

interface WavesPanelProps {
  readonly of: Ref;
  readonly answer: Answered<Waves | null>;
  /** Only while the source has this data. */
  readonly hash?: string | null;
}

/** How far the current data of a source has come. Nothing if its changes come to all workloads at once. */
export function WavesPanel({ of, answer, hash }: WavesPanelProps): JSX.Element | null {
  const { data, error, knownAt, refresh } = answer;
  // Without a row there are no waves; any other failure is told.
  const trouble =
    error && error.status !== 404 ? (
      <Trouble error={error} what="the waves" again={refresh} knownAt={knownAt} />
    ) : null;
  if (!data) return trouble;
  const isShown = data.waves !== null || data.problem !== null;
  if (!isShown || (hash !== undefined && data.hash !== hash)) return null;
  return (
    <Panel title="Waves">
      {trouble}
      <Halted of={of} waves={data} />
      <Settings of={data} />
      {data.plan === null ? null : (
        <Table
          caption="Waves of the current data"
          columns={COLUMNS}
          rows={data.plan.map((wave, at) => ({ ...wave, number: at + 1 }))}
          keyOf={({ number }) => `${number}`}
          empty="No workload depends on it."
        />
      )}
    </Panel>
  );
}

function Settings({ of: { waves, bake, problem } }: { of: Waves }): JSX.Element {
  return (
    <>
      {waves === null ? null : (
        <p class="muted">
          <code>{waves}</code>
          {bake === null ? null : (
            <>
              , each observed for <code>{bake}</code>
            </>
          )}
        </p>
      )}
      {problem === null ? null : <p class={waves === null ? 'muted' : 'trouble'}>{problem}</p>}
    </>
  );
}

const COLUMNS: readonly Column<Wave>[] = [
  { header: 'Wave', width: 'tight', cell: ({ number }) => `${number}` },
  {
    header: 'State',
    width: 'tight',
    cell: ({ state, until }) => (
      <>
        <Badge look={WAVES[state]} />
        {until === null ? null : (
          <p class="muted">
            until <Time at={until} />
          </p>
        )}
      </>
    ),
  },
  {
    header: 'Reloaded',
    width: 'tight',
    cell: ({ reloaded, size }) => `${reloaded} of ${counted(size, 'workload')}`,
  },
  { header: 'Workloads', width: 'wide', cell: (wave) => <Members of={wave} /> },
];

/** Workloads of a wave that are shown without a click. */
const FEW = 3;

function Members({ of: { workloads, size } }: { of: Wave }): JSX.Element {
  const list = (
    <ul>
      {workloads.map(({ workload, detail }) => (
        <li key={keyOf(workload)}>
          <RefLink of={workload} /> <span class="muted">{detail}</span>
        </li>
      ))}
      {size > workloads.length ? <li class="muted">and {size - workloads.length} more</li> : null}
    </ul>
  );
  if (size <= FEW) return list;
  return (
    <details>
      <summary>{counted(size, 'workload')}</summary>
      {list}
    </details>
  );
}

function Halted({ of, waves: { halted, resumed, hash } }: { of: Ref; waves: Waves }): JSX.Element | null {
  if (halted === null)
    return resumed ? (
      <p class="muted">Somebody has resumed this change; failures no longer halt it.</p>
    ) : null;
  return (
    <section class="trouble" aria-label="Halted">
      <p>
        The change is halted: <RefLink of={halted.workload} /> <Words text={halted.detail} />. It continues
        when that workload recovers, or when the data changes again.
      </p>
      <ResumeAction of={of} hash={hash} />
    </section>
  );
}

/** Let a halted change go on, for who may. */
function ResumeAction({ of, hash }: { of: Ref; hash: string | null }): JSX.Element | null {
  const { seen, dialog } = useSeen(hash);
  if (!mayHold()) return null;
  const { kind, namespace, name } = of;
  return (
    <Action
      {...dialog}
      label="Resume"
      title={`Resume the change of ${spoken(of)}`}
      done={`The change of ${spoken(of)} continues`}
      sends={() => seen}
      run={async ({ reason, idempotencyKey }) => {
        await call('resumeChange', {
          params: { kind, namespace, name },
          body: { reason, ...(seen === null ? {} : { hash: seen }) },
          idempotencyKey,
        });
        tellDeed();
      }}
    >
      <p>
        The next waves begin although a workload has failed. If the data changes again, the new change starts
        from its first wave.
      </p>
    </Action>
  );
}
