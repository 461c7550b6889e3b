import type { JSX } from 'preact';
import type { Preview } from '@reroll/shared/api/explain';
import { keyOf } from '../../names.ts';
import { RULE_OUTCOMES } from '../../words.ts';
import { Badge } from '../badge.tsx';
import { Portion } from '../portion.tsx';
import { RefLink } from '../refs.tsx';
import { reasonIn, Why } from '../words.tsx';
import { Table, type Column } from './table.tsx';

type Verdict = Preview['verdicts'][number];

const FIRST = 10;

const WORKLOAD: Column<Verdict> = {
  header: 'Workload',
  width: 'wide',
  cell: ({ workload }) => <RefLink of={workload} />,
};
const SOURCE: Column<Verdict> = { header: 'Source', cell: ({ source }) => <RefLink of={source} /> };
const WAVE: Column<Verdict> = { header: 'Wave', width: 'tight', cell: ({ wave }) => wave ?? '–' };
const COLUMNS: readonly Column<Verdict>[] = [
  {
    header: 'Result',
    width: 'tight',
    cell: ({ reloads }) => (
      <Badge
        look={{ ...RULE_OUTCOMES[reloads ? 'reload' : 'skip'], word: reloads ? 'Reload' : 'No reload' }}
      />
    ),
  },
  // Its words tell until when.
  {
    header: 'Held now',
    cell: ({ held }) => (held ? <Why reason={held.reason} detail={held.detail} /> : null),
  },
  { header: 'Why', cell: ({ reason, detail }) => <Why reason={reason} detail={reasonIn(detail)} /> },
];

/** Without a column that would say the same in each row, or nothing. */
function columnsOf(verdicts: readonly Verdict[]): readonly Column<Verdict>[] {
  const isOfOneSource = new Set(verdicts.map(({ source }) => keyOf(source))).size <= 1;
  const hasWaves = verdicts.some(({ wave }) => wave !== null);
  return [WORKLOAD, ...(isOfOneSource ? [] : [SOURCE]), ...(hasWaves ? [WAVE] : []), ...COLUMNS];
}

/** What a preview says of each workload and source. */
export function VerdictTable(props: { verdicts: readonly Verdict[]; caption: string }): JSX.Element {
  const { verdicts, caption } = props;
  return (
    <Portion items={verdicts} first={FIRST} what="results">
      {(shown) => (
        <Table
          caption={caption}
          columns={columnsOf(verdicts)}
          rows={shown}
          keyOf={({ workload, source }) => `${keyOf(workload)} ${keyOf(source)}`}
          empty="Nothing refers to it."
        />
      )}
    </Portion>
  );
}
