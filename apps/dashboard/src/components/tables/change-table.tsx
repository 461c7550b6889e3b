import type { JSX } from 'preact';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import { hrefOf } from '../../router.ts';
import { CAUSES, CAUSE_WORDS } from '../../words.ts';
import { StateCounts } from './state-counts.tsx';
import { Table, type Column } from './table.tsx';
import { Time } from '../time.tsx';

const COLUMNS: readonly Column<ChangeSummary>[] = [
  {
    header: 'Change',
    width: 'wide',
    cell: (change) => (
      <a class="ref" href={hrefOf('changes', [change.id])}>
        <ChangeTitle change={change} />
      </a>
    ),
  },
  { header: 'Seen', width: 'tight', cell: ({ seenAt }) => <Time at={seenAt} /> },
  {
    header: 'Cause',
    width: 'tight',
    cell: ({ cause }) => <span title={CAUSES[cause]}>{CAUSE_WORDS[cause]}</span>,
  },
  { header: 'Workloads', cell: ({ states, more }) => <StateCounts states={states} more={more} /> },
];

function ChangeTitle({ change }: { change: ChangeSummary }): JSX.Element {
  const { source, workload, request } = change;
  const by = `requested by ${request?.actor ?? 'somebody'}`;
  const object = source ?? workload;
  if (!object) return <span class="name">Reload {by}</span>;
  return (
    <>
      <span class="kind">{object.kind}</span>
      <span class="name">{`${object.namespace}/${object.name}${source ? '' : `, ${by}`}`}</span>
    </>
  );
}

export function ChangeTable(props: {
  changes: readonly ChangeSummary[];
  caption: string;
  empty: string;
}): JSX.Element {
  const { changes, caption, empty } = props;
  return <Table caption={caption} columns={COLUMNS} rows={changes} keyOf={({ id }) => id} empty={empty} />;
}
