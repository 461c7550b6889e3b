import type { JSX } from 'preact';
import { Panel } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { isShownIn, sentenceOf, subjectOf, timeOf } from '../../news.ts';
import { hrefOf, route } from '../../router.ts';
import { feed, liveState, type FeedEntry } from '../../state/live.ts';

const SHOWN = 14;

const LIVE = {
  connecting: 'Connecting…',
  live: 'Connected',
  lost: 'Connection lost, trying again…',
  refused: 'Your account may not follow events',
} as const;

/** What happens while the page is open. It is read out by the live region of the page, not by itself. */
export function Feed(): JSX.Element {
  const { namespace } = route.value;
  const entries = feed.value.filter((entry) => isShownIn(namespace, entry)).slice(0, SHOWN);
  const state = liveState.value;
  return (
    <Panel
      title="Live"
      aside={
        <span class={`live ${state}`}>
          <span class="pip" aria-hidden="true" />
          {LIVE[state]}
        </span>
      }
    >
      {entries.length === 0 ? (
        <p class="empty">
          Nothing since this page was opened. Changes and rollouts appear here as they happen.
        </p>
      ) : (
        <ol class="feed">
          {entries.map((entry) => (
            <li key={entry.key}>
              <Time at={timeOf(entry) ?? entry.cameAt.toISOString()} /> <Told entry={entry} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Told({ entry }: { entry: FeedEntry }): JSX.Element {
  const subject = subjectOf(entry);
  const sentence = sentenceOf(entry);
  if (!subject) return <span>{sentence}</span>;
  const href =
    subject.page === 'changes'
      ? hrefOf('changes', [subject.id])
      : hrefOf('workloads', [subject.ref.kind, subject.ref.namespace, subject.ref.name]);
  return <a href={href}>{sentence}</a>;
}
