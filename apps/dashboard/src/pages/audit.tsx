import type { JSX } from 'preact';
import type { AuditEntry } from '@reroll/shared/api/audit';
import { Filters, type Filter } from '../components/filters.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { KeyLink } from '../components/refs.tsx';
import { Table, type Column } from '../components/tables/table.tsx';
import { Time } from '../components/time.tsx';
import { WholeNote } from '../components/whole-note.tsx';
import { route } from '../router.ts';
import { SINCE } from '../since.ts';

const FILTERS: readonly Filter[] = [
  { name: 'actor', label: 'Caller' },
  { name: 'since', label: 'Since', choices: SINCE },
];

const COLUMNS: readonly Column<AuditEntry>[] = [
  { header: 'Time', width: 'tight', cell: ({ at }) => <Time at={at} /> },
  { header: 'Caller', cell: ({ actor }) => actor },
  { header: 'Action', width: 'tight', cell: ({ action }) => <code>{action}</code> },
  { header: 'Object', cell: ({ target }) => <KeyLink of={target} /> },
  { header: 'Reason', width: 'wide', cell: ({ reason }) => reason },
  { header: 'Result', width: 'tight', cell: ({ result }) => <Result result={result} /> },
];

/** Who did what through the API, and why; what was refused, too. */
export function Audit(): JSX.Element {
  const { since, ...query } = route.value.query;
  return (
    <>
      <PageHead title="Audit" />
      <WholeNote text="Not limited to the chosen namespace." />
      <Filters filters={FILTERS} />
      <div class="panel">
        <Paged id="listAudit" query={query} minutes={since} what="audit entries" keyOf={({ id }) => id}>
          {(entries) => (
            <Table
              caption="Writes, newest first"
              columns={COLUMNS}
              rows={entries}
              keyOf={({ id }) => id}
              empty="No entries that you may see."
            />
          )}
        </Paged>
      </div>
    </>
  );
}

function Result({ result }: { result: string }): JSX.Element {
  return result === 'done' ? <span>done</span> : <span class="bad-text">{result}</span>;
}
