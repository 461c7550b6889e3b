import type { AdoptedSystem } from './adopted.ts';
import type { PodTemplate, SourceData, SourceId } from '../model.ts';
import { isFabric8Mark } from './fabric8-marker.ts';
import { isTriggerMark } from './trigger-marker.ts';

/**
 * Whether a pod template carries the marker that one of these systems would write for this source and data, which proves what the
 * pods run. Wave's marker covers all sources of a workload: see `WaveMark`.
 */
export function isAdoptedMark(
  template: PodTemplate,
  source: { readonly id: Pick<SourceId, 'kind' | 'name'>; readonly data: SourceData },
  systems: readonly AdoptedSystem[],
): boolean {
  const { id, data } = source;
  const isOfFabric8 = id.kind === 'ConfigMap' && systems.includes('fabric8');
  if (isOfFabric8 && isFabric8Mark(template, id.name, data)) return true;
  return systems.includes('trigger') && isTriggerMark(template, id, data);
}
