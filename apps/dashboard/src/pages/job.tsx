import type { JSX } from 'preact';
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
        {state === undefined || state === 'active' ? null : (
          <RetryAction id={id} isFailed={state === 'failed'} />
        )}
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
                ['Due', <Time at={data.until} none="Now" />],
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
