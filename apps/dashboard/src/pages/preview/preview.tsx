import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Preview as PreviewData, PreviewRequest } from '@reroll/shared/api/explain';
import { call, CallError } from '../../api/client.ts';
import { Loading, Trouble } from '../../components/answer.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { VerdictTable } from '../../components/tables/verdict-table.tsx';
import { Words } from '../../components/words.tsx';
import { announce } from '../../state/announcer.ts';
import { keyOf } from '../../names.ts';
import { hrefOf, route } from '../../router.ts';
import { asCallError } from '../../use-answer.ts';
import { PreviewForm } from './preview-form.tsx';

/** What would roll, if; nothing is sent to the cluster. */
export function Preview(): JSX.Element {
  // Another question begins without the result of the last one.
  return <PreviewOf key={JSON.stringify(route.value.query)} />;
}

function PreviewOf(): JSX.Element {
  const [result, setResult] = useState<PreviewData | CallError | 'loading' | undefined>(undefined);
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const clear = (): void => {
    running.current?.abort();
    setResult(undefined);
  };
  const ask = async (request: PreviewRequest): Promise<void> => {
    running.current?.abort();
    const { signal } = (running.current = new AbortController());
    setResult('loading');
    keepInAddress(request);
    try {
      const preview = await call('preview', { body: request }, signal);
      setResult(preview);
      announce(preview.conclusion);
    } catch (error) {
      if (!signal.aborted) setResult(asCallError(error));
    }
  };
  return (
    <>
      <PageHead title="Preview" />
      <p class="lead">
        What a change would reload. Only the rules are evaluated; nothing is sent to the cluster.
      </p>
      <PreviewForm ask={ask} clear={clear} />
      <Result of={result} />
    </>
  );
}

/** What is asked about stands in the address, to be shared, and for the Back button. The page stays as it is. */
function keepInAddress(request: PreviewRequest): void {
  const { of } = request;
  const key = keyOf(of === 'source' ? request.source : request.workload);
  history.replaceState(null, '', hrefOf('preview', [], { of, [of]: key }));
}

function Result({ of }: { of: PreviewData | CallError | 'loading' | undefined }): JSX.Element | null {
  if (of === undefined) return null;
  if (of === 'loading') return <Loading what="the preview" isSent />;
  if (of instanceof CallError) return <Trouble error={of} what="the preview" />;
  const { conclusion, verdicts, today } = of;
  return (
    <>
      <Panel title="What would happen">
        <p class="conclusion">
          <Words text={conclusion} />
        </p>
        <VerdictTable verdicts={verdicts} caption="What a change would do" />
      </Panel>
      {today.length === 0 ? null : (
        <Panel title="Differences today">
          <VerdictTable verdicts={today} caption="What a change does today, where it differs" />
        </Panel>
      )}
    </>
  );
}
