import { WAVE_HASH, provenByWave, waveChildren } from '@reroll/core/adopted/wave-marker';
import type { SourceName } from '@reroll/core/state/rows';
import { recordedHashes } from '@reroll/core/record/record';
import { KubeError } from '@reroll/kube/client/errors';
import { sourceIdOf, type Readings } from './reload-plan.ts';
import type { SourceAbsence, SourceNow, SourceReader } from '../change/source-reader.ts';
import type { WorkloadNow } from './workload-reader.ts';

const NONE: ReadonlySet<SourceName> = new Set();

/**
 * Finds the sources whose current data the pods run, proven by the hash that Wave left in the pod template. Called when a
 * workload is adopted. Reads the other sources that Wave hashed; if Reroll may not read one of them, nothing is proven.
 * Rejects with a `KubeError` for any other failed read.
 */
export async function readProvenByWave(
  workload: WorkloadNow,
  readings: Readings,
  sources: Pick<SourceReader, 'read' | 'isWaveMark'>,
): Promise<ReadonlySet<SourceName>> {
  const { object, template, observed } = workload;
  const marked = template.metadata?.annotations?.[WAVE_HASH];
  const recorded = recordedHashes(observed.record);
  const isAdopted = [...readings.keys()].some((name) => !(name in recorded));
  if (marked === undefined || !isAdopted) return NONE;
  const children = waveChildren({ metadata: object.metadata, template });
  if (!children) return NONE;
  const all = new Map<SourceName, SourceNow | SourceAbsence>(readings);
  const missing = [...children.keys()].filter((name) => !readings.has(name));
  for (const name of missing) all.set(name, await readable(sources, name, observed.namespace));
  return sources.isWaveMark(marked, children, all) ? provenByWave(children, template) : NONE;
}

async function readable(
  sources: Pick<SourceReader, 'read'>,
  name: SourceName,
  namespace: string,
): Promise<SourceNow | SourceAbsence> {
  try {
    return await sources.read(sourceIdOf(name, namespace));
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return 'SourceNotWatched';
    throw error;
  }
}
