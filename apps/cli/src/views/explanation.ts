import { isHoldReason } from '@reroll/core/holds/hold';
import type { Explanation, Preview } from '@reroll/shared/api/explain';
import { toneOf } from '../output/color.ts';
import { toned, type Cell, type Column } from '../output/table.ts';
import { shortHash, shortName } from './names.ts';
import { yesNo } from './workloads.ts';

export function explanationFacts(explanation: Explanation): (readonly [string, Cell])[] {
  const { workload, source, record, due, use } = explanation;
  return [
    ['Workload', `${shortName(workload)} in the namespace ${workload.namespace}`],
    ['Source', `${shortName(source)} in the namespace ${source.namespace}`],
    [
      'Reloads',
      toned(
        `${explanation.reloads ? 'yes' : 'no'} (${explanation.reason})`,
        toneOf(explanation.reloads ? 'yes' : 'no'),
      ),
    ],
    ['Used', use.detail],
    ['Recorded', recordText(record)],
    ['Pending', due.detail],
    ...explanation.holds.map(
      ({ reason, stops, detail }) =>
        [stops || isHoldReason(reason) ? 'Held' : 'Note', toned(`${reason}: ${detail}`, 'waiting')] as const,
    ),
  ];
}

function recordText({ recorded, current, agrees }: Explanation['record']): string {
  if (recorded === null) return 'nothing yet';
  const relation = agrees === null ? 'not comparable with' : agrees ? 'the same as' : 'different from';
  return `${shortHash(recorded)}, ${relation} the current data${current === null ? '' : ` (${shortHash(current)})`}`;
}

export const RULE_COLUMNS: readonly Column<Explanation['rules'][number]>[] = [
  { title: '', cell: ({ decides }) => (decides ? '*' : ' ') },
  { title: 'RULE', cell: ({ rule }) => rule },
  { title: 'SAYS', cell: ({ outcome }) => toned(outcome, toneOf(outcome)) },
  { title: 'REASON', cell: ({ reason }) => reason ?? '' },
  { title: 'DETAIL', cell: ({ detail }) => detail },
];

type PreviewVerdict = Preview['verdicts'][number];

const WAVE: Column<PreviewVerdict> = { title: 'WAVE', cell: ({ wave }) => (wave === null ? '' : `${wave}`) };

/** With waves only if there are any. */
export function verdictColumns(verdicts: readonly PreviewVerdict[]): readonly Column<PreviewVerdict>[] {
  const inWaves = verdicts.some(({ wave }) => wave !== null);
  return [
    ...(inWaves ? [WAVE] : []),
    { title: 'WORKLOAD', cell: ({ workload }) => shortName(workload) },
    { title: 'SOURCE', cell: ({ source }) => shortName(source) },
    { title: 'RELOADS', cell: ({ reloads }) => yesNo(reloads) },
    { title: 'HELD', cell: ({ held }) => heldText(held) },
    { title: 'REASON', cell: ({ reason }) => reason },
    { title: 'DETAIL', cell: ({ detail }) => detail },
  ];
}

/** By what, and until when. */
function heldText(held: PreviewVerdict['held']): string {
  if (held === null) return '';
  return held.until === null ? held.reason : `${held.reason} until ${held.until}`;
}
