import {
  inWaveOrder,
  readWaves,
  waveOf,
  waveProblems,
  waveSizes,
  type WaveSettings,
} from '../holds/waves.ts';
import type { WorkloadKey } from '../model.ts';
import type { PreviewedPair } from './preview.ts';

/**
 * Tells in which wave each workload would reload. Returns those that reload in the order in which they would, then the others, and
 * remarks to add. `places`: `reroll.dev/wave` of each workload.
 */
export function previewWaves(
  verdicts: readonly PreviewedPair[],
  settings: WaveSettings,
  places: ReadonlyMap<WorkloadKey, string | undefined>,
): { readonly verdicts: readonly PreviewedPair[]; readonly remarks: readonly string[] } {
  const reloading = verdicts.filter(({ reloads }) => reloads);
  const reading = readWaves(settings.waves);
  if (reading.state !== 'read' || reloading.length === 0) return { verdicts, remarks: problemsOf(settings) };
  const placed = reloading.map((verdict) => ({ ...verdict, wave: waveOf(places.get(verdict.workload)) }));
  const ordered = inWaveOrder(placed);
  const ends = waveSizes(reading.ends, ordered.length);
  const inWaves = ordered.map((verdict, at) => ({ ...verdict, wave: ends.findIndex((end) => at < end) + 1 }));
  const sizes = ends.map((end, at) => end - (ends[at - 1] ?? 0));
  const told =
    sizes.length === 1 ? [] : [`They would reload in ${sizes.length} waves, of ${sizes.join(', ')}.`];
  return {
    verdicts: [...inWaves, ...verdicts.filter(({ reloads }) => !reloads)],
    remarks: [...told, ...problemsOf(settings)],
  };
}

function problemsOf(settings: WaveSettings): string[] {
  const problems = waveProblems(settings);
  return problems.length === 0 ? [] : [...problems, 'Until that is mended, its changes reload nothing.'];
}
