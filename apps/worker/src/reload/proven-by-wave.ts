import {
  WAVE_HASH,
  provenByWave,
  waveChildren,
  WaveMark,
  type WaveChildren,
} from '@reroll/core/adopted/wave-marker';
import type { SourceData } from '@reroll/core/model';
import type { SourceName } from '@reroll/core/state/rows';
import { recordedHashes } from '@reroll/core/record/record';
import { KubeError } from '@reroll/kube/client/errors';
import type { Readings } from './reload-plan.ts';
import type { SourceAbsence, SourceNow } from '../change/source-reader.ts';
import type { WorkloadNow } from './workload-reader.ts';

/** Reads a source. `see` is called with its data. */
export type ReadSource = (
  name: SourceName,
  see?: (data: SourceData) => void,
) => Promise<SourceNow | SourceAbsence>;

interface ReadForWave {
  /** Those of `names` that it read. */
  readonly readings: Readings;
  /** The sources whose current data the pods run. */
  readonly proven: ReadonlySet<SourceName>;
}

export const WITHOUT_WAVE: ReadForWave = { readings: new Map(), proven: new Set() };

/**
 * When a workload is adopted, reads the sources that Wave hashed, one after the other, and finds what the hash proves that Wave left in
 * the pod template. If Reroll may not read one that is not in `names`, nothing is proven. Rejects with a `KubeError` for any other
 * failed read.
 */
export async function readForWave(
  workload: WorkloadNow,
  names: readonly SourceName[],
  read: ReadSource,
): Promise<ReadForWave> {
  const hashed = hashedByWave(workload, names);
  if (!hashed) return WITHOUT_WAVE;
  const { marked, children } = hashed;
  const mark = new WaveMark(children);
  const wanted = new Set(names);
  const readings = new Map<SourceName, SourceNow | SourceAbsence>();
  let isWhole = true;
  for (const name of mark.names) {
    const reading = read(name, (data) => mark.add(name, data));
    const now = await (wanted.has(name) ? reading : readable(reading));
    if (wanted.has(name)) readings.set(name, now);
    isWhole &&= now !== 'SourceNotWatched';
  }
  const isProven = isWhole && mark.is(marked);
  return { readings, proven: isProven ? provenByWave(children, workload.template) : WITHOUT_WAVE.proven };
}

/** The hash, and what it covers. Undefined if there is none, if that is not known, or if the record has all of `names`. */
function hashedByWave(
  { object: { metadata }, template, observed }: WorkloadNow,
  names: readonly SourceName[],
): { marked: string; children: WaveChildren } | undefined {
  const marked = template.metadata?.annotations?.[WAVE_HASH];
  const recorded = recordedHashes(observed.record);
  const isAdopted = names.some((name) => !(name in recorded));
  if (marked === undefined || !isAdopted) return undefined;
  const children = waveChildren({ metadata, template });
  return children && { marked, children };
}

async function readable(reading: Promise<SourceNow | SourceAbsence>): Promise<SourceNow | SourceAbsence> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return 'SourceNotWatched';
    throw error;
  }
}
