import type { JSX } from 'preact';
import { ChangeTable } from '../components/tables/change-table.tsx';
import { Filters, type Filter } from '../components/filters.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { TimelinePanel } from '../components/pictures/timeline-panel.tsx';
import type { Span } from '../components/pictures/timeline-span.ts';
import { go, route } from '../router.ts';
import { CAUSE_WORDS, STATES } from '../words.ts';
import { minutesOf, SINCE, spanIn, spanQuery } from '../since.ts';

const FILTERS: readonly Filter[] = [
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

/** How far back the timeline goes, if the filter does not say. */
const DAY = 1_440;

export function Changes(): JSX.Element {
  const { since, from, until, ...filters } = route.value.query;
  const query = { namespace: route.value.namespace, ...filters };
  const isFiltered = Object.values({ ...query, since, from, until }).some(Boolean);
  const span = spanIn({ from, until });
  const selected = spanQuery(span);
  const select = (chosen: Span | undefined): void =>
    go('changes', [], { ...query, since, ...spanQuery(chosen) });
  return (
    <>
      <PageHead title="Changes" />
      <Filters
        filters={FILTERS}
        keep={(asked) => (asked['since'] === (since ?? '') ? { from, until } : {})}
      />
      <TimelinePanel minutes={minutesOf(since) ?? DAY} query={query} selection={{ span, select }} />
      <div class="panel">
        <Paged
          id="listChanges"
          query={{ ...query, since: selected['from'], until: selected['until'] }}
          minutes={span ? undefined : since}
          what="changes"
          keyOf={({ id }) => id}
        >
          {(changes) => (
            <ChangeTable
              changes={changes}
              caption="Changes, newest first"
              empty={
                isFiltered
                  ? 'No change in the history matches these filters.'
                  : 'No change in the history yet.'
              }
            />
          )}
        </Paged>
      </div>
    </>
  );
}
