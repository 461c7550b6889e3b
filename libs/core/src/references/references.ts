import type { PodSpec, SourceKind } from '../model.ts';
import { SOURCE_KINDS } from '../model.ts';
import type { SourceRef } from './pod-uses.ts';
import { podUses } from './pod-uses.ts';

/**
 * The sources that a pod spec uses in a way that is detected, each once, by kind and then name. Exactly
 * those for which `containerUsing(podSpec, source, true)` finds a container: a volume that nothing mounts
 * is no use.
 */
export function referencedSources(podSpec: PodSpec): SourceRef[] {
  const uses = podUses(podSpec);
  return uses.candidates.filter((source) => uses.containerOf(source) !== null).sort(byKindThenName);
}

/**
 * The index, in `containers`, of the container that carries a source's marker; null if there is none, and
 * so nothing to reload.
 *
 * 1. The first volume that refers to the source: the first container that mounts it; if only an init
 *    container does, the first container, because an init container never carries a marker.
 * 2. Else the first container that reads it into its environment; if only an init container does, the
 *    first container.
 * 3. Else, if the workload names the source (`auto` is false), the first container all the same.
 */
export function containerUsing(podSpec: PodSpec, source: SourceRef, auto: boolean): number | null {
  if ((podSpec.containers ?? []).length === 0) return null;
  const found = podUses(podSpec).containerOf(source);
  return found ?? (auto ? null : 0);
}

function byKindThenName(left: SourceRef, right: SourceRef): number {
  return rank(left.kind) - rank(right.kind) || (left.name < right.name ? -1 : 1);
}

function rank(kind: SourceKind): number {
  return SOURCE_KINDS.indexOf(kind);
}
