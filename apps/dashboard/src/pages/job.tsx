import type { JSX } from 'preact';
import type { Job as JobData } from '@reroll/shared/api/queues';
import { Answer } from '../components/answer.tsx';
import { Badge } from '../components/badge.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Facts, Panel } from '../components/panel.tsx';
import { KeyLink } from '../components/refs.tsx';
import { RetryAction } from '../components/retry-action.tsx';
import { Time } from '../components/time.tsx';
import { useAnswer } from '../use-answer.ts';
import { JOB_STATES, QUEUES } from '../words.ts';

export function Job({ id }: { id: string }): JSX.Element {
  const job = useAnswer('getJob', { params: { id } }, 'both');
  const state = job.data?.state;
  return (
    <>
      <PageHead kind="Job" title={id}>
        {state === undefined ? null : <RetryAction id={id} state={state} />}
      </PageHead>
      <Answer of={job} what="the job">
        {(data) => (
          <Panel title="Status">
            <Facts
              facts={[
                ['Queue', `${data.queue}: ${QUEUES[data.queue]}`],
                ['Object', <KeyLink of={data.subject} />],
                ['State', <Badge look={JOB_STATES[data.state]} />],
                ['Created', <Time at={data.createdAt} />],
                ...due(data),
                ['Started', <Time at={data.startedAt} none="Not yet" />],
                ['Ended', <Time at={data.endedAt} none="Not yet" />],
                ['Attempts', `${data.attempts.made} of ${data.attempts.most}`],
                ['Error', data.error ?? 'None'],
              ]}
            />
          </Panel>
        )}
      </Answer>
    </>
  );
}

/** Only what waits is due. */
function due({ state, until }: JobData): [string, JSX.Element][] {
  const isDue = state === 'waiting' || state === 'delayed';
  return isDue ? [['Due', <Time at={until} none="Now" />]] : [];
}
