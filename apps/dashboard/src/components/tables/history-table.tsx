import type { JSX } from 'preact';
import type { HistoryEntry } from '@reroll/shared/api/workloads';
import { hrefOf } from '../../router.ts';
import { STATES } from '../../words.ts';
import { Badge } from '../badge.tsx';
import { Portion } from '../portion.tsx';
import { RefLink } from '../refs.tsx';
import { Table, type Column } from './table.tsx';
import { Time } from '../time.tsx';
import { Why } from '../words.tsx';

/** Rows that are shown without a click. */
const FIRST = 10;

const AT: Column<HistoryEntry> = {
  header: 'Time',
  width: 'tight',
  cell: ({ at, change }) =>
    change === null ? (
      <Time at={at} />
    ) : (
      <a href={hrefOf('changes', [change])}>
        <Time at={at} />
      </a>
    ),
};
const STATE: Column<HistoryEntry> = {
  header: 'State',
  width: 'tight',
  cell: ({ state }) => <Badge look={STATES[state]} />,
};
const SOURCE: Column<HistoryEntry> = {
  header: 'Source',
  cell: ({ source }) => (source ? <RefLink of={source} /> : <span class="muted">none</span>),
};
const WORKLOAD: Column<HistoryEntry> = {
  header: 'Workload',
  cell: ({ workload }) => <RefLink of={workload} />,
};
const WHY: Column<HistoryEntry> = {
  header: 'Reason',
  width: 'wide',
  cell: ({ reason, error }) => (
    <>
      <Why reason={reason} />
      {error === null ? null : <p class="bad-text">{error}</p>}
    </>
  ),
};

export function HistoryTable(props: {
  history: readonly HistoryEntry[];
  of: 'workload' | 'source';
}): JSX.Element {
  const { history, of } = props;
  const columns = [AT, of === 'workload' ? SOURCE : WORKLOAD, STATE, WHY];
  return (
    <Portion items={history} first={FIRST} what="entries">
      {(shown) => (
        <Table
          caption={
            of === 'workload' ? 'What happened to this workload' : 'What happened because of this source'
          }
          columns={columns}
          rows={shown}
          keyOf={({ at, change, workload, reason }) => `${at} ${change} ${workload.name} ${reason}`}
          empty="Nothing in the history."
        />
      )}
    </Portion>
  );
}
