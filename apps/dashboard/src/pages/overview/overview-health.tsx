import type { ComponentChildren, JSX } from 'preact';
import type { Queue } from '@reroll/shared/api/queues';
import type { Status } from '@reroll/shared/api/status';
import { Answer, Trouble } from '../../components/answer.tsx';
import { Panel } from '../../components/panel.tsx';
import { Table, type Column } from '../../components/tables/table.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf } from '../../router.ts';
import { status, statusAnswer } from '../../state/status.ts';
import { lasting, took } from '../../time.ts';
import { useAnswer } from '../../use-answer.ts';
import { QUEUE_NAME, QUEUE_TROUBLE } from '../queues.tsx';

/** The state of the install, in six numbers. */
export function Tiles(): JSX.Element | null {
  const now = status.value;
  if (!now) return null;
  const workers = now.processes.filter(({ app }) => app === 'worker').length;
  const standbys = now.processes.filter(({ role }) => role === 'standby').length;
  return (
    <>
      <Old />
      <dl class="tiles" aria-label="State of the installation">
        <Tile
          term="Leader"
          fact={now.leader ?? 'none'}
          note={standbys === 1 ? '1 standby' : `${standbys} standbys`}
          isBad={now.leader === null}
        />
        <Tile term="Workers" fact={`${workers}`} note={limitsNote(now)} isBad={workers === 0} />
        <Tile
          term="Queue lag"
          fact={now.lagSeconds === null ? 'unknown' : lasting(now.lagSeconds)}
          note="oldest due job"
        />
        <Tile
          term="Pending"
          fact={now.owed === null ? 'unknown' : `${now.owed.workloads}`}
          note={owedNote(now)}
        />
        <Tile
          term="Redis"
          fact={redisWord(now)}
          note={now.redis.full === true ? 'no history is written' : answeredIn(now.redis.milliseconds)}
          isBad={!now.redis.ok || now.redis.full === true}
        />
        <Tile
          term="API server"
          fact={apiServerWord(now)}
          note={answeredIn(now.apiServer.milliseconds)}
          isBad={now.apiServer.ok === false}
        />
      </dl>
    </>
  );
}

/** Says so if the tiles and the processes are of an earlier answer. That the connection is lost is said above every page. */
function Old(): JSX.Element | null {
  const { error, knownAt, refresh } = statusAnswer.value ?? {};
  if (!error || error.status === 0) return null;
  return <Trouble error={error} what="the state of the installation" again={refresh} knownAt={knownAt} />;
}

function redisWord({ redis: { ok, full } }: Status): string {
  if (!ok) return 'no answer';
  return full === true ? 'full' : 'answers';
}

function Tile(props: { term: string; fact: string; note: ComponentChildren; isBad?: boolean }): JSX.Element {
  const { term, fact, note, isBad = false } = props;
  return (
    <div class={isBad ? 'tile bad' : 'tile'}>
      <dt>{term}</dt>
      <dd class="fact" title={fact}>
        {fact}
      </dd>
      <dd class="note">{note}</dd>
    </div>
  );
}

function answeredIn(milliseconds: number | null): string {
  return milliseconds === null ? '' : `in ${took(Math.ceil(milliseconds))}`;
}

function apiServerWord({ apiServer: { ok } }: Status): string {
  if (ok === null) return 'not asked';
  return ok ? 'answers' : 'no answer';
}

function limitsNote({ limits: { reloadsPerMinute } }: Status): string {
  if (reloadsPerMinute === null) return 'limits set by flags';
  return reloadsPerMinute === 0 ? 'no limit of reloads a minute' : `${reloadsPerMinute} reloads a minute`;
}

function owedNote({ owed }: Status): ComponentChildren {
  if (!owed) return '';
  if (owed.oldest === null) return 'no pending reload';
  return (
    <>
      since <Time at={owed.oldest} />
    </>
  );
}

const QUEUE_COLUMNS: readonly Column<Queue>[] = [
  QUEUE_NAME,
  { header: 'Due now', width: 'tight', cell: ({ counts }) => counts.waiting + counts.active },
  { header: 'Delayed', width: 'tight', cell: ({ counts }) => counts.delayed },
  ...QUEUE_TROUBLE,
];

export function QueueDepths(): JSX.Element {
  const queues = useAnswer('listQueues', {}, 'pulse');
  return (
    <Panel title="Queues" aside={<a href={hrefOf('jobs')}>Jobs</a>}>
      <Answer of={queues} what="queues">
        {({ items }) => (
          <Table
            isCompact
            caption="Queues"
            columns={QUEUE_COLUMNS}
            rows={items}
            keyOf={({ name }) => name}
            empty="No queue."
          />
        )}
      </Answer>
    </Panel>
  );
}

type Process = Status['processes'][number];

const PROCESS_COLUMNS: readonly Column<Process>[] = [
  {
    header: 'Process',
    width: 'wide',
    // In one column: the names of pods need the room.
    cell: (process) => (
      <>
        {process.name} <p class="muted">{roleOf(process)}</p>
      </>
    ),
  },
  { header: 'Started', width: 'tight', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { header: 'Version', width: 'tight', cell: ({ version }) => version },
];

function roleOf({ app, role, synced }: Process): string {
  if (app !== 'watcher') return app;
  const word = role ?? 'watcher';
  return synced === false ? `${word}, not synced` : word;
}

export function Processes(): JSX.Element {
  return (
    <Panel title="Processes">
      <Table
        isCompact
        caption="Processes of the installation"
        columns={PROCESS_COLUMNS}
        rows={status.value?.processes ?? []}
        keyOf={({ app, name }) => `${app} ${name}`}
        empty="No process sends a heartbeat."
      />
    </Panel>
  );
}
