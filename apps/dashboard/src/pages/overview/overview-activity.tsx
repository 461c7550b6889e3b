import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Answer } from '../../components/answer.tsx';
import { Panel } from '../../components/panel.tsx';
import { spanWords } from '../../components/pictures/timeline-brush.tsx';
import { TimelinePanel } from '../../components/pictures/timeline-panel.tsx';
import type { Span } from '../../components/pictures/timeline-span.ts';
import { ChangeTable } from '../../components/tables/change-table.tsx';
import { hrefOf, route } from '../../router.ts';
import { useAnswer } from '../../use-answer.ts';
import { spanQuery } from '../../since.ts';

const SPANS = [
  ['60', 'Last hour'],
  ['360', 'Last 6 hours'],
  ['1440', 'Last day'],
] as const;

/** The timeline, and the changes of what is selected in it: without a selection, the latest. */
export function Activity(): JSX.Element {
  const [minutes, setMinutes] = useState('60');
  const [span, select] = useState<Span | undefined>(undefined);
  const choice = (
    <select
      aria-label="Time shown"
      value={minutes}
      onChange={({ currentTarget }) => setMinutes(currentTarget.value)}
    >
      {SPANS.map(([value, word]) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </select>
  );
  return (
    <>
      <TimelinePanel
        minutes={Number(minutes)}
        query={{ namespace: route.value.namespace }}
        selection={{ span, select }}
        aside={choice}
      />
      <LatestChanges span={span} />
    </>
  );
}

function LatestChanges({ span }: { span: Span | undefined }): JSX.Element {
  const { from: since, until } = spanQuery(span);
  const changes = useAnswer('listChanges', {
    query: { namespace: route.value.namespace, since, until, limit: '12' },
  });
  return (
    <Panel
      title={span ? `Changes from ${spanWords(span)}` : 'Latest changes'}
      aside={<a href={hrefOf('changes', [], spanQuery(span))}>{span ? 'All of this time' : 'All changes'}</a>}
    >
      <Answer of={changes} what="changes">
        {({ items, next }) => (
          <ChangeTable
            changes={items}
            caption={span ? 'Changes of the selected time' : 'Latest changes'}
            empty={next === null ? emptyText(span) : 'None among the latest; see all changes.'}
          />
        )}
      </Answer>
    </Panel>
  );
}

function emptyText(span: Span | undefined): string {
  return span
    ? 'No change in the selected time.'
    : 'No change yet. Edit a ConfigMap or Secret that a workload uses, and it appears here.';
}
