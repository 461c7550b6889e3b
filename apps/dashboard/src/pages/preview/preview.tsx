import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Preview as PreviewData, PreviewRequest } from '@reroll/shared/api/explain';
import { call, CallError } from '../../api/client.ts';
import { Trouble } from '../../components/answer.tsx';
import { Badge } from '../../components/badge.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { RefLink } from '../../components/refs.tsx';
import { Table, type Column } from '../../components/tables/table.tsx';
import { Time } from '../../components/time.tsx';
import { Why, Words } from '../../components/words.tsx';
import { keyOf } from '../../names.ts';
import { announce } from '../../state/announcer.ts';
import { route } from '../../router.ts';
import { RULE_OUTCOMES } from '../../words.ts';
import { PreviewForm } from './preview-form.tsx';

type Verdict = PreviewData['verdicts'][number];

const WAVE: Column<Verdict> = { header: 'Wave', width: 'tight', cell: ({ wave }) => wave };
const COLUMNS: readonly Column<Verdict>[] = [
  { header: 'Workload', cell: ({ workload }) => <RefLink of={workload} /> },
  { header: 'Source', cell: ({ source }) => <RefLink of={source} /> },
  {
    header: 'Result',
    width: 'tight',
    cell: ({ reloads }) => (
      <Badge
        look={{ ...RULE_OUTCOMES[reloads ? 'reload' : 'skip'], word: reloads ? 'Reload' : 'No reload' }}
      />
    ),
  },
  { header: 'Held now', cell: ({ held }) => <HeldNow held={held} /> },
  { header: 'Why', width: 'wide', cell: ({ reason, detail }) => <Why reason={reason} detail={detail} /> },
];

/** What would roll, if; nothing is sent to the cluster. */
export function Preview(): JSX.Element {
  const [result, setResult] = useState<PreviewData | CallError | undefined>(undefined);
  const ask = async (request: PreviewRequest): Promise<void> => {
    try {
      const preview = await call('preview', { body: request });
      setResult(preview);
      announce(preview.conclusion);
    } catch (error) {
      setResult(error instanceof CallError ? error : new CallError(0, {}));
    }
  };
  return (
    <>
      <PageHead title="Preview" />
      <p class="lead">
        What a change would reload. Only the rules are evaluated; nothing is sent to the cluster.
      </p>
      <PreviewForm key={JSON.stringify(route.value.query)} ask={ask} />
      {result instanceof CallError ? <Trouble error={result} what="the preview" /> : null}
      {result === undefined || result instanceof CallError ? null : <Result of={result} />}
    </>
  );
}

function Result({ of: { conclusion, verdicts, today } }: { of: PreviewData }): JSX.Element {
  return (
    <>
      <Panel title="What would happen">
        <p class="conclusion">
          <Words text={conclusion} />
        </p>
        <Verdicts verdicts={verdicts} caption="What a change would do" />
      </Panel>
      {today.length === 0 ? null : (
        <Panel title="Differences today">
          <Verdicts verdicts={today} caption="What a change does today, where it differs" />
        </Panel>
      )}
    </>
  );
}

function HeldNow({ held }: Pick<Verdict, 'held'>): JSX.Element | null {
  if (held === null) return null;
  return (
    <span title={held.detail}>
      {held.reason}
      {held.until === null ? null : (
        <>
          {' '}
          until <Time at={held.until} />
        </>
      )}
    </span>
  );
}

function Verdicts({ verdicts, caption }: { verdicts: readonly Verdict[]; caption: string }): JSX.Element {
  return (
    <Table
      caption={caption}
      columns={verdicts.some(({ wave }) => wave !== null) ? [WAVE, ...COLUMNS] : COLUMNS}
      rows={verdicts}
      keyOf={({ workload, source }) => `${keyOf(workload)} ${keyOf(source)}`}
      empty="Nothing refers to it."
    />
  );
}
