import type { Waves } from '@reroll/shared/api/waves';
import { until } from '../output/age.ts';
import { toneOf, type Paint } from '../output/color.ts';
import { safeText } from '../output/safe-text.ts';
import { table, toned, type Column } from '../output/table.ts';
import { shortName } from './names.ts';

type Wave = NonNullable<Waves['plan']>[number] & { readonly number: number };

/** A table of the waves, and what is to be known of them as a whole; empty without waves. */
export function wavesText(
  waves: Waves,
  { now, paint }: { readonly now: number; readonly paint: Paint },
): string {
  const planned = wavesInOrder(waves);
  const rows = planned.length === 0 ? '' : table(waveColumns(now), planned, { paint });
  return (
    rows +
    waveRemarks(waves)
      .map((remark) => `${safeText(remark)}\n`)
      .join('')
  );
}

function wavesInOrder({ plan }: Waves): readonly Wave[] {
  return (plan ?? []).map((wave, at) => ({ ...wave, number: at + 1 }));
}

function waveColumns(now: number): readonly Column<Wave>[] {
  return [
    { title: 'WAVE', cell: ({ number }) => `${number}` },
    { title: 'STATE', cell: ({ state }) => toned(state, toneOf(state)) },
    { title: 'RELOADED', cell: ({ reloaded, size }) => `${reloaded}/${size}` },
    { title: 'UNTIL', cell: (wave) => (wave.until === null ? '' : until(wave.until, now)) },
    {
      title: 'FIRST',
      cell: ({ workloads: [first] }) => (first ? `${shortName(first.workload)} ${first.detail}` : ''),
    },
  ];
}

/** What is to be known of the waves as a whole. */
function waveRemarks({ halted, problem, resumed }: Waves): readonly string[] {
  const stopped = halted ? `Halted: ${shortName(halted.workload)} ${halted.detail}.` : undefined;
  return [
    stopped,
    problem ?? undefined,
    resumed ? 'Somebody has resumed this change; failures no longer halt it.' : undefined,
  ].filter((remark) => remark !== undefined);
}
