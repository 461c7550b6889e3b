import type { JSX } from 'preact';
import type { Workload } from '@reroll/shared/api/workloads';
import { keyOf, type Ref } from '../../names.ts';
import { DUE, HOW, RULE_OUTCOMES } from '../../words.ts';
import { Badge } from '../badge.tsx';
import { ExplainLink, RefLink } from '../refs.tsx';
import { Table, type Column } from './table.tsx';
import { Hash, Why } from '../words.tsx';

/** A source and a workload; `other` is the one that the page is not about. */
export type DependencyRow = Omit<Workload['sourcesInDetail'][number], 'source'> & {
  readonly source: Ref;
  readonly workload: Ref;
  readonly other: Ref;
};

const COLUMNS: readonly Column<DependencyRow>[] = [
  {
    header: 'On a change',
    width: 'tight',
    cell: ({ rolls }) => (
      <Badge
        look={{
          ...RULE_OUTCOMES[rolls ? 'reload' : 'skip'],
          word: rolls ? 'Reload' : 'No reload',
          meaning: '',
          tone: rolls ? 'good' : 'quiet',
        }}
      />
    ),
  },
  {
    header: 'Why',
    width: 'wide',
    cell: ({ reason, detail, how }) => (
      <>
        <Why reason={reason} detail={detail} /> <span class="muted how">{HOW[how]}.</span>
      </>
    ),
  },
  { header: 'Recorded / current data', width: 'tight', cell: (dependency) => <Hashes of={dependency} /> },
  {
    header: 'Reload',
    width: 'tight',
    cell: ({ rolls, due }) =>
      rolls || due !== null ? <Badge look={DUE[due ?? 'none']} /> : <span class="muted">–</span>,
  },
  {
    header: 'Rules',
    width: 'tight',
    cell: ({ source, workload, other }) => <ExplainLink workload={workload} source={source} of={other} />,
  },
];

/** Once if they are the same; else what is recorded, and below it what the source has now. */
function Hashes({ of: { recorded, current, exists } }: { of: DependencyRow }): JSX.Element {
  if (exists && recorded === current) return <Hash hash={current} />;
  return (
    <>
      <Hash hash={recorded} />
      <p>{exists ? <Hash hash={current} /> : 'Does not exist'}</p>
    </>
  );
}

export function DependencyTable(props: {
  caption: string;
  dependencies: readonly DependencyRow[];
  other: 'Source' | 'Workload';
  empty: string;
}): JSX.Element {
  const { caption, dependencies, other, empty } = props;
  const first: Column<DependencyRow> = {
    header: other,
    cell: (dependency) => <RefLink of={dependency.other} />,
  };
  return (
    <Table
      caption={caption}
      columns={[first, ...COLUMNS]}
      rows={dependencies}
      keyOf={(dependency) => keyOf(dependency.other)}
      empty={empty}
    />
  );
}
