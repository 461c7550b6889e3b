import type { JSX } from 'preact';
import { freezeHold } from '@reroll/core/holds/freeze';
import { FREEZE_ANNOTATION } from '@reroll/core/holds/hold';
import type { Workload as WorkloadData } from '@reroll/shared/api/workloads';
import { AnnotationList } from '../../components/tables/annotation-list.tsx';
import { Answer } from '../../components/answer.tsx';
import { Badge } from '../../components/badge.tsx';
import { HistoryTable } from '../../components/tables/history-table.tsx';
import { ApproveAction, FreezeAction } from '../../components/hold-actions.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Facts, Panel } from '../../components/panel.tsx';
import { ReloadAction } from '../../components/reload-action.tsx';
import { RetryAction } from '../../components/retry-action.tsx';
import { RolloutFacts } from '../../components/rollout-facts.tsx';
import { Time } from '../../components/time.tsx';
import { Why } from '../../components/words.tsx';
import { keyOf, type Ref } from '../../names.ts';
import { hrefOf } from '../../router.ts';
import { useAnswer } from '../../use-answer.ts';
import { workloadLook } from '../../workload-look.ts';
import { counted, JOB_STATES } from '../../words.ts';
import { Notes } from '../workloads.tsx';
import { WorkloadSources } from './workload-sources.tsx';

export function Workload({ of }: { of: Ref }): JSX.Element {
  const { kind, namespace, name } = of;
  const workload = useAnswer('getWorkload', { params: { kind, namespace, name } }, 'both');
  return (
    <>
      <PageHead kind={`${kind} in ${namespace}`} title={name}>
        {workload.data ? (
          <>
            <a class="button" href={hrefOf('preview', [], { of: 'workload', workload: keyOf(of) })}>
              Preview other annotations
            </a>
            <FreezeAction of={of} isFrozen={isFrozen(workload.data)} />
            <ReloadAction of={of} isPrimary />
          </>
        ) : null}
      </PageHead>
      <Answer of={workload} what="the workload">
        {(data) => <Details workload={data} />}
      </Answer>
    </>
  );
}

/** Whether by its own annotation, which stays there when the freeze is over. */
function isFrozen({ annotations }: WorkloadData): boolean {
  const freeze = annotations[FREEZE_ANNOTATION];
  return freeze !== undefined && freezeHold(freeze, '', Date.now()) !== undefined;
}

function Details({ workload }: { workload: WorkloadData }): JSX.Element {
  const { annotations, podAnnotations, history, rolloutInDetail } = workload;
  return (
    <>
      <div class="halves">
        <Now workload={workload} />
        <Panel title="Rollout">
          <RolloutFacts rollout={rolloutInDetail} />
        </Panel>
      </div>
      <WorkloadSources workload={workload} />
      <Panel title="History">
        <HistoryTable history={history} of="workload" />
      </Panel>
      <Panel title="Annotations">
        <AnnotationList annotations={annotations} empty="None on the workload." />
        <h3>Of the pod template</h3>
        <AnnotationList annotations={podAnnotations} empty="None on the pod template." />
      </Panel>
    </>
  );
}

function Now({ workload }: { workload: WorkloadData }): JSX.Element {
  const { hold, lastReload, generation, job } = workload;
  return (
    <Panel title="Status">
      <Facts
        facts={[
          ['State', <Badge look={workloadLook(workload)} />],
          ['Last reload', <Time at={lastReload?.at} none="None in the history" />],
          ['Generation', generation],
          ['Job', job ? <Job job={job} /> : 'None'],
        ]}
      />
      {hold ? <Held hold={hold} of={workload} /> : null}
      <Notes of={workload} />
    </Panel>
  );
}

function Held({ hold, of }: { hold: NonNullable<WorkloadData['hold']>; of: Ref }): JSX.Element {
  const { reason, detail, id } = hold;
  return (
    <div class="hold">
      <p>
        <Why reason={reason} detail={detail} />
      </p>
      {id === null ? null : <ApproveAction of={of} id={id} />}
    </div>
  );
}

function Job({ job }: { job: NonNullable<WorkloadData['job']> }): JSX.Element {
  // The API's type is wider than what it answers.
  const state = job.state as keyof typeof JOB_STATES;
  return (
    <>
      <Badge look={JOB_STATES[state]} /> {counted(job.attempts, 'attempt')}
      {job.until === null ? null : (
        <>
          , until <Time at={job.until} />
        </>
      )}{' '}
      <RetryAction id={job.id} state={state} />
    </>
  );
}
