import { isTime } from '../durations.ts';
import { jsonFields } from '../json.ts';
import type { SourceId } from '../model.ts';
import { markerType, sourceKindOfMarkerType } from './marker-type.ts';

/** Annotation of the pod template: the source that it was last reloaded for. */
export const LAST_RELOADED_FROM = 'reloader.stakater.com/last-reloaded-from';

export interface LastReloadedFrom extends SourceId {
  /** `markerHash` of the source's data, or `DELETED_MARKER_HASH`. */
  readonly hash: string;
  /** Names of containers; stakater/Reloader writes exactly one. */
  readonly containerRefs: readonly string[];
  /** Unix seconds. */
  readonly observedAt: number;
}

/** Returns the annotation's value: compact JSON with fields in a fixed order, escaped as by Go's `json.Marshal`. */
export function lastReloadedFrom(reloaded: LastReloadedFrom): string {
  const { kind, name, namespace, hash, containerRefs, observedAt } = reloaded;
  const text = JSON.stringify({ type: markerType(kind), name, namespace, hash, containerRefs, observedAt });
  return text.replaceAll(/[<>&\u2028\u2029]/g, unicodeEscape);
}

/** Parses such a value; undefined for anything else, since anybody may write the annotation. */
export function parseLastReloadedFrom(value: string): LastReloadedFrom | undefined {
  const { type, name, namespace, hash, containerRefs, observedAt } = jsonFields(value);
  const kind = typeof type === 'string' ? sourceKindOfMarkerType(type) : undefined;
  if (!kind || typeof name !== 'string' || typeof namespace !== 'string') return undefined;
  if (typeof hash !== 'string' || !isNames(containerRefs) || !isUnixSeconds(observedAt)) return undefined;
  return { kind, namespace, name, hash, containerRefs, observedAt };
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isUnixSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && isTime(value * 1000);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
