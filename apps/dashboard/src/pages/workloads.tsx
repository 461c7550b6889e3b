import type { JSX } from 'preact';
import type { WorkloadSummary } from '@reroll/shared/api/workloads';
import { Badge } from '../components/badge.tsx';
import { BulkActions } from '../components/bulk-actions.tsx';
import { Filters, type Filter } from '../components/filters.tsx';
import { FreezeNamespaceActions } from '../components/hold-actions.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { RefLink } from '../components/refs.tsx';
import { Table, type Column } from '../components/tables/table.tsx';
import { Time } from '../components/time.tsx';
import { WORKLOAD_KINDS } from '@reroll/core/model';
import { keyOf } from '../names.ts';
import { hrefOf, route } from '../router.ts';
import { DUE, reasonWords, ROLLOUTS, STATES } from '../words.ts';
import { workloadLook } from '../workload-look.ts';

const FILTERS: readonly Filter[] = [
  { name: 'name', label: 'Name contains' },
  { name: 'kind', label: 'Kind', choices: WORKLOAD_KINDS.map((kind) => [kind, kind]) },
  {
    name: 'due',
    label: 'Reload',
    choices: [
      ['owed', DUE.owed.word],
      ['correct', DUE.correct.word],
      ['stale', 'Stale since adoption'],
      ['failed', STATES.failed.word],
    ],
  },
  {
    name: 'rollout',
    label: 'Rollout',
    choices: Object.entries(ROLLOUTS).map(([state, { word }]) => [state, word]),
  },
];

const COLUMNS: readonly Column<WorkloadSummary>[] = [
  { header: 'Workload', width: 'wide', cell: (workload) => <RefLink of={workload} /> },
  { header: 'Sources', width: 'tight', cell: ({ sources }) => sources },
  { header: 'State', width: 'tight', cell: (workload) => <Badge look={workloadLook(workload)} /> },
  { header: 'Last reload', width: 'tight', cell: ({ lastReload }) => <LastReload of={lastReload} /> },
  { header: 'Notes', cell: (workload) => <Notes of={workload} /> },
];

export function WorkloadTable(props: { workloads: readonly WorkloadSummary[]; empty: string }): JSX.Element {
  const { workloads, empty } = props;
  return <Table caption="Workloads" columns={COLUMNS} rows={workloads} keyOf={keyOf} empty={empty} />;
}

export function Workloads(): JSX.Element {
  const { namespace, query } = route.value;
  return (
    <>
      <PageHead title="Workloads">
        <FreezeNamespaceActions namespace={namespace} />
      </PageHead>
      <Filters filters={FILTERS} />
      <BulkActions selector={{ namespace, ...query }} />
      <div class="panel">
        <Paged id="listWorkloads" query={{ namespace, ...query }} what="workloads" keyOf={keyOf}>
          {(workloads) => (
            <WorkloadTable
              workloads={workloads}
              empty={`No workload that you may see${Object.keys(query).length === 0 ? '' : ' matches these filters'}.`}
            />
          )}
        </Paged>
      </div>
    </>
  );
}

function LastReload({ of }: { of: WorkloadSummary['lastReload'] }): JSX.Element {
  if (!of) return <span class="muted">none</span>;
  if (of.change === null) return <Time at={of.at} />;
  return (
    <a href={hrefOf('changes', [of.change])}>
      <Time at={of.at} />
    </a>
  );
}

/** What is unusual about it. */
export function Notes({ of }: { of: WorkloadSummary }): JSX.Element | null {
  const { leftAlone, contested, pausedUntil } = of;
  if (leftAlone === null && !contested && pausedUntil === null) return null;
  return (
    <ul class="notes">
      {leftAlone === null ? null : <li title={reasonWords(leftAlone)}>Not reloaded ({leftAlone})</li>}
      {contested ? <li title={reasonWords('Contested')}>Conflict with another controller</li> : null}
      {pausedUntil === null ? null : (
        <li>
          Paused until <Time at={pausedUntil} />
        </li>
      )}
    </ul>
  );
}
