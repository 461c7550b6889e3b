import type { JSX } from 'preact';
import type { Source as SourceData } from '@reroll/shared/api/workloads';
import { AnnotationList } from '../../components/tables/annotation-list.tsx';
import { Answer } from '../../components/answer.tsx';
import { ConsumersPanel } from '../../components/consumers-panel.tsx';
import { HistoryTable } from '../../components/tables/history-table.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Facts, Panel } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { useWaves, WavesPanel } from '../../components/waves-panel.tsx';
import { Hash } from '../../components/words.tsx';
import type { Ref } from '../../names.ts';
import { useAnswer } from '../../use-answer.ts';
import { DependentsPanel } from './dependents-panel.tsx';
import { PreviewPanel } from './preview-panel.tsx';

export function Source({ of }: { of: Ref }): JSX.Element {
  const { kind, namespace, name } = of;
  const source = useAnswer('getSource', { params: { kind, namespace, name } });
  return (
    <>
      <PageHead kind={`${kind} in ${namespace}`} title={name} />
      <Answer of={source} what="the source">
        {(data) => <Details source={data} />}
      </Answer>
    </>
  );
}

function Details({ source }: { source: SourceData }): JSX.Element {
  const { kind, namespace, name, exists, hash, changedAt, annotations, history } = source;
  const waves = useWaves({ kind, namespace, name });
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
        <AnnotationList annotations={annotations} empty="It has no annotation that Reroll reads." />
      </Panel>
      <WavesPanel of={source} answer={waves} />
      <DependentsPanel source={source} waves={waves.data} />
      <PreviewPanel of={source} />
      <ConsumersPanel of={source} />
      <Panel title="History">
        <HistoryTable history={history} of="source" />
      </Panel>
    </>
  );
}
