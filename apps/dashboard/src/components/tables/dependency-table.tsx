import type { JSX } from 'preact';
import type { Workload } from '@reroll/shared/api/workloads';
import { DEPENDENCY_LOOKS, type DependencyState } from '../../dependency-state.ts';
import { keyOf, type Ref } from '../../names.ts';
import { HOW, RULE_OUTCOMES } from '../../words.ts';
import { Badge } from '../badge.tsx';
import { Portion } from '../portion.tsx';
import { ExplainLink, RefLink } from '../refs.tsx';
import { Table, type Column } from './table.tsx';
import { Hash, reasonIn, sentenceOf, Why, Words } from '../words.tsx';

/** A source and a workload; `other` is the one that the page is not about. */
export type DependencyRow = Omit<Workload['sourcesInDetail'][number], 'source'> & {
  readonly source: Ref;
  readonly workload: Ref;
  readonly other: Ref;
  readonly state: DependencyState;
  /** More about the state; empty: nothing. */
  readonly note: string;
};

/** Rows that are shown without a click. */
const FIRST = 10;

const COLUMNS: readonly Column<DependencyRow>[] = [
  { header: 'State', width: 'tight', cell: ({ state }) => <Badge look={DEPENDENCY_LOOKS[state]} /> },
  { header: 'On a change', width: 'wide', cell: (dependency) => <OnChange of={dependency} /> },
  { header: 'Recorded / current data', width: 'tight', cell: (dependency) => <Hashes of={dependency} /> },
  {
    header: 'Rules',
    width: 'tight',
    cell: ({ source, workload, other }) => <ExplainLink workload={workload} source={source} of={other} />,
  },
];

/** Whether a change reloads, by which rule; and what keeps the reload that is pending. */
function OnChange({ of: { rolls, reason, detail, how, note } }: { of: DependencyRow }): JSX.Element {
  return (
    <>
      {note === '' ? null : (
        <p>
          <Words text={sentenceOf(note)} />
        </p>
      )}
      <span class="on-change">
        <Badge
          look={{
            ...RULE_OUTCOMES[rolls ? 'reload' : 'skip'],
            word: rolls ? 'Reload' : 'No reload',
            meaning: '',
            tone: rolls ? 'good' : 'quiet',
          }}
        />{' '}
        <Why reason={reason} detail={reasonIn(detail)} /> <span class="muted how">{HOW[how]}.</span>
      </span>
    </>
  );
}

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
    <Portion items={dependencies} first={FIRST} what={other === 'Source' ? 'sources' : 'workloads'}>
      {(shown) => (
        <Table
          caption={caption}
          columns={[first, ...COLUMNS]}
          rows={shown}
          keyOf={(dependency) => keyOf(dependency.other)}
          empty={empty}
        />
      )}
    </Portion>
  );
}
