import type { PodSpec, SourceKind } from '../model.ts';
import { SOURCE_KINDS } from '../model.ts';
import type { SourceRef } from './pod-uses.ts';
import { podUses } from './pod-uses.ts';

/**
 * Returns the sources that a pod spec uses, each once, by kind and then name. These are exactly those for which
 * `containerUsing(podSpec, source, true)` finds a container: a volume that nothing mounts is not a use.
 */
export function referencedSources(podSpec: PodSpec): SourceRef[] {
  const uses = podUses(podSpec);
  return uses.candidates.filter((source) => uses.containerOf(source) !== null).sort(byKindThenName);
}

/**
 * Returns the index, in `containers`, of the container that carries a source's marker; null if there is none, so that nothing can
 * be reloaded.
 * 1. For the first volume that refers to the source, the first container that mounts it. If only an init container mounts it, the
 *    first container, because an init container never carries a marker.
 * 2. Otherwise, the first container that reads the source into its environment. If only an init container does, the first
 *    container.
 * 3. Otherwise, if the workload names the source (`auto` is false), the first container.
 */
export function containerUsing(podSpec: PodSpec, source: SourceRef, auto: boolean): number | null {
  return carrierIn(podSpec)(source, auto);
}

/** Returns `containerUsing` for one pod spec, which is read once, however many sources are asked for. */
export function carrierIn(podSpec: PodSpec): (source: SourceRef, auto: boolean) => number | null {
  const uses = podUses(podSpec);
  const none = (podSpec.containers ?? []).length === 0;
  return (source, auto) => (none ? null : (uses.containerOf(source) ?? (auto ? null : 0)));
}

function byKindThenName(left: SourceRef, right: SourceRef): number {
  return rank(left.kind) - rank(right.kind) || (left.name < right.name ? -1 : 1);
}

function rank(kind: SourceKind): number {
  return SOURCE_KINDS.indexOf(kind);
}
