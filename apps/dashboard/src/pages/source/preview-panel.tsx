import type { JSX } from 'preact';
import type { PreviewRequest } from '@reroll/shared/api/explain';
import { call } from '../../api/client.ts';
import { Answer } from '../../components/answer.tsx';
import { OnDemandPanel } from '../../components/on-demand-panel.tsx';
import { VerdictTable } from '../../components/tables/verdict-table.tsx';
import { Words } from '../../components/words.tsx';
import { keyOf, type Ref } from '../../names.ts';
import { hrefOf } from '../../router.ts';
import { useAsked } from '../../use-answer.ts';

type SourceRef = Extract<PreviewRequest, { of: 'source' }>['source'];

/** What a change of a source would reload now, in which wave, and what would hold it. */
export function PreviewPanel({ of }: { of: SourceRef }): JSX.Element {
  return (
    <OnDemandPanel
      title="Preview a change"
      verb="Preview"
      hint={
        <>
          Which workloads a change would reload now, and what would hold them. Nothing is sent to the cluster.{' '}
          <OtherAnnotations of={of} />
        </>
      }
    >
      <Result of={of} />
    </OnDemandPanel>
  );
}

function OtherAnnotations({ of }: { of: Ref }): JSX.Element {
  return <a href={hrefOf('preview', [], { of: 'source', source: keyOf(of) })}>With other annotations</a>;
}

function Result({ of: { kind, namespace, name } }: { of: SourceRef }): JSX.Element {
  const source = { kind, namespace, name };
  const preview = useAsked(
    `preview ${keyOf(source)}`,
    (signal) => call('preview', { body: { of: 'source', source } }, signal),
    'once',
  );
  return (
    <Answer of={preview} what="the preview">
      {({ conclusion, verdicts }) => (
        <>
          <p class="conclusion" role="status">
            <Words text={conclusion} />
          </p>
          <VerdictTable verdicts={verdicts} caption="What a change would do" />
          <p class="after-table">
            <OtherAnnotations of={source} />
          </p>
        </>
      )}
    </Answer>
  );
}
