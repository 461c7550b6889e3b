import type { JSX } from 'preact';
import type { Source as SourceData } from '@reroll/shared/api/workloads';
import { AnnotationList } from '../components/tables/annotation-list.tsx';
import { Answer } from '../components/answer.tsx';
import { ConsumersPanel } from '../components/consumers-panel.tsx';
import { DependencyTable } from '../components/tables/dependency-table.tsx';
import { HistoryTable } from '../components/tables/history-table.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Facts, Panel } from '../components/panel.tsx';
import { Picture } from '../components/pictures/picture.tsx';
import { Time } from '../components/time.tsx';
import { WavesPanel } from '../components/waves-panel.tsx';
import { Hash } from '../components/words.tsx';
import { keyOf, spoken, type Ref } from '../names.ts';
import { hrefOf } from '../router.ts';
import { useAnswer } from '../use-answer.ts';
import { counted } from '../words.ts';

export function Source({ of }: { of: Ref }): JSX.Element {
  const { kind, namespace, name } = of;
  const source = useAnswer('getSource', { params: { kind, namespace, name } });
  return (
    <>
      <PageHead kind={`${kind} in ${namespace}`} title={name}>
        <a class="button" href={hrefOf('preview', [], { of: 'source', source: keyOf(of) })}>
          Preview a change
        </a>
      </PageHead>
      <Answer of={source} what="the source">
        {(data) => <Details source={data} />}
      </Answer>
    </>
  );
}

function Details({ source }: { source: SourceData }): JSX.Element {
  const { exists, hash, changedAt, annotations, history } = source;
  return (
    <>
      <Panel title="Status">
        <Facts
          facts={[
            ['Exists', exists ? 'Yes' : 'No'],
            ['Data', <Hash hash={hash} />],
            ['Changed', <Time at={changedAt} none="Not in the history" />],
          ]}
        />
        <AnnotationList annotations={annotations} empty="No annotation on it decides anything." />
      </Panel>
      <WavesPanel of={source} />
      <Dependents source={source} />
      <ConsumersPanel of={source} />
      <Panel title="History">
        <HistoryTable history={history} of="source" />
      </Panel>
    </>
  );
}

function Dependents({ source }: { source: SourceData }): JSX.Element {
  const dependencies = source.workloadsInDetail;
  const rolling = dependencies.filter(({ rolls }) => rolls).length;
  return (
    <Panel title="Dependent workloads">
      {dependencies.length === 0 ? null : (
        <Picture
          hub={source}
          spokes={dependencies.map(({ workload, rolls }) => ({ ref: workload, rolls }))}
          sentence={`A change of ${spoken(source)} reloads ${counted(rolling, 'workload')} of ${dependencies.length} that refer to it. A dashed line: no reload.`}
        />
      )}
      <DependencyTable
        caption="Workloads that refer to this source"
        dependencies={dependencies.map((dependency) => ({
          ...dependency,
          other: dependency.workload,
          source,
        }))}
        other="Workload"
        empty="No workload that you may see refers to it."
      />
    </Panel>
  );
}
