import type { JSX } from 'preact';
import { ChangeTable } from '../components/tables/change-table.tsx';
import { Filters, type Filter } from '../components/filters.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { route } from '../router.ts';
import { CAUSE_WORDS, STATES } from '../words.ts';
import { sinceOf, SINCE } from './since.ts';

const FILTERS: readonly Filter[] = [
  { name: 'namespace', label: 'Namespace' },
  { name: 'source', label: 'Source', suggests: 'source' },
  { name: 'workload', label: 'Workload', suggests: 'workload' },
  {
    name: 'state',
    label: 'State',
    choices: Object.entries(STATES).map(([state, { word }]) => [state, word]),
  },
  { name: 'halted', label: 'Halted', choices: [['true', 'Halted only']] },
  { name: 'cause', label: 'Cause', choices: Object.entries(CAUSE_WORDS) },
  { name: 'since', label: 'Since', choices: SINCE },
];

export function Changes(): JSX.Element {
  const { since, ...query } = route.value.query;
  return (
    <>
      <PageHead title="Changes" />
      <Filters filters={FILTERS} />
      <div class="panel">
        <Paged
          id="listChanges"
          query={{ ...query, since: sinceOf(since) }}
          what="changes"
          keyOf={({ id }) => id}
        >
          {(changes) => (
            <ChangeTable
              changes={changes}
              caption="Changes, newest first"
              empty={
                Object.keys(route.value.query).length === 0
                  ? 'No change in the history yet.'
                  : 'No change in the history is like that.'
              }
            />
          )}
        </Paged>
      </div>
    </>
  );
}
