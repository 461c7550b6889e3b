import { templateMarks } from '@reroll/core/marker/template-marks';
import { recordedHashes } from '@reroll/core/record/record';
import type { SourceName } from '@reroll/core/state/rows';
import type { SourceReader } from '../change/source-reader.ts';
import { readForWave, WITHOUT_WAVE, type ReadSource } from './proven-by-wave.ts';
import { sourceIdOf, type PlanContext, type Readings } from './reload-plan.ts';
import type { WorkloadNow } from './workload-reader.ts';

/** Sources that one job reads at a time: each can be 1 MiB, and other jobs need connections too. */
const READS_AT_ONCE = 8;

/**
 * Reads these sources and compares their data with the record and the pod template, so that no data is kept. Also finds what other
 * systems' markers prove. Rejects with a `KubeError` or ioredis' error; no further read begins then.
 */
export async function readSources(
  workload: WorkloadNow,
  names: readonly SourceName[],
  by: { readonly sources: Pick<SourceReader, 'read'>; readonly context: PlanContext },
): Promise<{ readonly readings: Readings; readonly proven: PlanContext['proven'] }> {
  const { adopt = [] } = by.context.decision.keys;
  const read = comparing(workload, by);
  const wave = adopt.includes('wave') ? await readForWave(workload, names, read) : WITHOUT_WAVE;
  const readings = new Map(wave.readings);
  const left = names.filter((name) => !readings.has(name)).reverse();
  const work = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) readings.set(name, await read(name));
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, work)).finally(() => left.splice(0));
  return { readings, proven: wave.proven };
}

function comparing(
  { template, observed }: WorkloadNow,
  { sources, context }: { sources: Pick<SourceReader, 'read'>; context: PlanContext },
): ReadSource {
  const { lastReloadedFrom, adopt: systems = [] } = context.decision.keys;
  const marksOf = templateMarks(template, lastReloadedFrom);
  const record = recordedHashes(observed.record);
  return (name, see) => {
    const source = sourceIdOf(name, observed.namespace);
    const adopted = { template, systems };
    return sources.read(source, { recorded: record[name], marked: marksOf(source), adopted, see });
  };
}
