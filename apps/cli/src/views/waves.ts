import { IS_COMPLETE } from '@reroll/core/holds/waves';
import { keyOf } from '@reroll/core/model';
import type { ChangeWorkload } from '@reroll/shared/api/changes';
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
    { title: 'WAITS FOR', cell: waitsFor },
  ];
}

function waitsFor(wave: Wave): string {
  const { state, number } = wave;
  if (state === 'waiting') return `wave ${number - 1}`;
  if (state === 'baking') return 'its bake time';
  const blocking = isOpen(wave) ? blockingOf(wave) : undefined;
  return blocking ? `${shortName(blocking.workload)}, which ${blocking.detail}` : '';
}

function isOpen({ state }: Wave): boolean {
  return state !== 'done' && state !== 'failed';
}

/** The first workload for which the wave is not done. */
function blockingOf({ workloads }: Wave): Wave['workloads'][number] | undefined {
  return workloads.find(({ reloaded, detail }) => !reloaded || detail !== IS_COMPLETE);
}

/** For which wave a workload waits at present, by the plan. Undefined: that is not known, or it waits for something else. */
export function waveText({ workload, outcome }: ChangeWorkload, waves: Waves): string | undefined {
  if (outcome !== 'AwaitsWave') return undefined;
  const inOrder = wavesInOrder(waves);
  const key = keyOf(workload);
  const own = inOrder.find(({ workloads }) => workloads.some((each) => keyOf(each.workload) === key));
  if (own === undefined) return undefined;
  const before = inOrder.find((wave) => wave.number < own.number && isOpen(wave));
  if (before === undefined) return `wave ${own.number} has begun`;
  const blocking = before.state === 'baking' ? undefined : blockingOf(before);
  const why = blocking
    ? `, in which ${shortName(blocking.workload)} ${blocking.detail}`
    : ', which is observed for its bake time';
  return `wave ${own.number} waits for wave ${before.number}${why}`;
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
