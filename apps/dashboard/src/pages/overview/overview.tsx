import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ChangeTable } from '../../components/tables/change-table.tsx';
import { Answer } from '../../components/answer.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { Timeline } from '../../components/pictures/timeline.tsx';
import { hrefOf } from '../../router.ts';
import { useAnswer } from '../../use-answer.ts';
import { Attention } from './overview-attention.tsx';
import { Feed } from './overview-feed.tsx';
import { Verdict } from './overview-verdict.tsx';
import { useInstallState } from './use-install-state.ts';
import { Processes, QueueDepths, Tiles } from './overview-health.tsx';

const SPANS = [
  ['1', 'Last hour'],
  ['6', 'Last 6 hours'],
  ['24', 'Last day'],
] as const;

export function Overview(): JSX.Element {
  const install = useInstallState();
  return (
    <>
      <PageHead title="Overview" />
      <Verdict of={install} />
      <Attention items={install.state?.attention ?? []} />
      <Tiles />
      <div class="columns">
        <div>
          <Recently />
          <LatestChanges />
        </div>
        <div>
          <Feed />
          <QueueDepths />
          <Processes />
        </div>
      </div>
    </>
  );
}

function Recently(): JSX.Element {
  const [hours, setHours] = useState('1');
  // To the minute, so that what is asked for stays the same for a while.
  const since = new Date(Math.floor(Date.now() / 60_000) * 60_000 - Number(hours) * 3_600_000);
  const changes = useAnswer('listChanges', { query: { since: since.toISOString(), limit: '200' } });
  const choice = (
    <select
      aria-label="Time shown"
      value={hours}
      onChange={({ currentTarget }) => setHours(currentTarget.value)}
    >
      {SPANS.map(([value, word]) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </select>
  );
  return (
    <Panel title="Timeline" aside={choice}>
      <Answer of={changes} what="the timeline">
        {({ items, next }) => <Timeline changes={items} from={since} to={new Date()} isCut={next !== null} />}
      </Answer>
    </Panel>
  );
}

function LatestChanges(): JSX.Element {
  const changes = useAnswer('listChanges', { query: { limit: '12' } });
  return (
    <Panel title="Latest changes" aside={<a href={hrefOf('changes')}>All changes</a>}>
      <Answer of={changes} what="changes">
        {({ items }) => (
          <ChangeTable
            changes={items}
            caption="Latest changes"
            empty="No change yet. Edit a ConfigMap or Secret that a workload uses, and it appears here."
          />
        )}
      </Answer>
    </Panel>
  );
}
