import type { JSX } from 'preact';
import type { Job } from '@reroll/shared/api/queues';
import { Badge } from '../components/badge.tsx';
import { BulkRetry } from '../components/bulk-actions.tsx';
import { Filters, type Filter } from '../components/filters.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { Panel } from '../components/panel.tsx';
import { KeyLink } from '../components/refs.tsx';
import { RetryAction } from '../components/retry-action.tsx';
import { Table, type Column } from '../components/tables/table.tsx';
import { Time } from '../components/time.tsx';
import { WholeNote } from '../components/whole-note.tsx';
import { hrefOf, route } from '../router.ts';
import { mayReload, maySteer } from '../state/status.ts';
import { JOB_STATES, QUEUES } from '../words.ts';
import { Limits } from './limits.tsx';
import { Queues } from './queues.tsx';

const FILTERS: readonly Filter[] = [
  { name: 'queue', label: 'Queue', choices: Object.keys(QUEUES).map((name) => [name, name]) },
  {
    name: 'state',
    label: 'State',
    choices: Object.entries(JOB_STATES).map(([state, { word }]) => [state, word]),
  },
];

const COLUMNS: readonly Column<Job>[] = [
  { header: 'Job', width: 'tight', cell: ({ id }) => <a href={hrefOf('jobs', [id])}>{id}</a> },
  { header: 'Object', width: 'wide', cell: ({ subject }) => <KeyLink of={subject} /> },
  { header: 'State', width: 'tight', cell: ({ state }) => <Badge look={JOB_STATES[state]} /> },
  { header: 'Since', width: 'tight', cell: ({ since, createdAt }) => <Time at={since ?? createdAt} /> },
  { header: 'Until', width: 'tight', cell: ({ until }) => <Time at={until} /> },
  { header: 'Attempts', width: 'tight', cell: ({ attempts }) => `${attempts.made} of ${attempts.most}` },
  { header: 'Error', cell: ({ error }) => (error === null ? <span class="muted">–</span> : error) },
];

const RETRY: Column<Job> = {
  header: 'Actions',
  width: 'tight',
  cell: ({ id, state }) => <RetryAction id={id} state={state} />,
};

export function Jobs(): JSX.Element {
  const columns = mayReload() || maySteer() ? [...COLUMNS, RETRY] : COLUMNS;
  return (
    <>
      <PageHead title="Jobs" />
      <WholeNote text="Not limited to the chosen namespace." />
      <div class="columns">
        <Queues />
        <Limits />
      </div>
      <Panel title="Waiting, running and failed jobs">
        <Filters filters={FILTERS} />
        <BulkRetry query={route.value.query} />
        <Paged id="listJobs" query={route.value.query} what="jobs" freshness="pulse" keyOf={({ id }) => id}>
          {(jobs) => (
            <Table
              caption="Jobs"
              columns={columns}
              rows={jobs}
              keyOf={({ id }) => id}
              empty={
                Object.keys(route.value.query).length === 0
                  ? 'No jobs: all are done.'
                  : 'No job matches these filters.'
              }
            />
          )}
        </Paged>
      </Panel>
    </>
  );
}
