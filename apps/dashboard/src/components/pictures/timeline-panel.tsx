import type { ComponentChildren, JSX } from 'preact';
import { call } from '../../api/client.ts';
import type { Query } from '../../router.ts';
import { useAsked } from '../../use-answer.ts';
import { Answer } from '../answer.tsx';
import { Panel } from '../panel.tsx';
import type { Selection } from './timeline-brush.tsx';
import { Timeline } from './timeline.tsx';

interface TimelinePanelProps {
  /** How far it goes back. */
  readonly minutes: number;
  /** Of the list of changes, without times. */
  readonly query?: Query;
  readonly selection: Selection;
  readonly aside?: ComponentChildren;
}

/** The timeline up to now, of the changes that a list has. */
export function TimelinePanel({ minutes, query = {}, selection, aside }: TimelinePanelProps): JSX.Element {
  const begin = (): Date => new Date(Date.now() - minutes * 60_000);
  // The question is the same while time goes on.
  const changes = useAsked(
    `timeline ${minutes} ${JSON.stringify(query)}`,
    (signal) =>
      call('listChanges', { query: { ...query, since: begin().toISOString(), limit: '200' } }, signal),
    'slow',
  );
  return (
    <Panel title="Timeline" aside={aside}>
      <Answer of={changes} what="the timeline">
        {({ items, next }) => (
          <Timeline
            query={{ ...query, since: `${minutes}` }}
            changes={items}
            from={begin()}
            to={new Date()}
            isCut={next !== null}
            selection={selection}
          />
        )}
      </Answer>
    </Panel>
  );
}
