import { readWaves, waveProblems, waveSizes, type WaveSettings } from '../holds/waves.ts';
import type { PreviewedPair } from './preview.ts';

/**
 * Tells in which wave each workload would reload, and remarks to add. `verdicts`: the first, in the order in which the workloads would
 * reload, then those that would not. `reloading`: how many would, in all.
 */
export function previewWaves(
  verdicts: readonly PreviewedPair[],
  settings: WaveSettings,
  reloading: number,
): { readonly verdicts: readonly PreviewedPair[]; readonly remarks: readonly string[] } {
  const reading = readWaves(settings.waves);
  if (reading.state !== 'read' || reloading === 0) return { verdicts, remarks: problemsOf(settings) };
  const ends = waveSizes(reading.ends, reloading);
  const inWaves = verdicts.map((verdict, at) =>
    verdict.reloads ? { ...verdict, wave: ends.findIndex((end) => at < end) + 1 } : verdict,
  );
  const sizes = ends.map((end, at) => end - (ends[at - 1] ?? 0));
  const told =
    sizes.length === 1 ? [] : [`They would reload in ${sizes.length} waves, of ${sizes.join(', ')}.`];
  return {
    verdicts: inWaves,
    remarks: [...told, ...problemsOf(settings)],
  };
}

function problemsOf(settings: WaveSettings): string[] {
  const problems = waveProblems(settings);
  return problems.length === 0 ? [] : [...problems, 'Until that is mended, its changes reload nothing.'];
}
