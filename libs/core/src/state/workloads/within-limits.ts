import { ADOPTED_LISTS } from '../../adopted/adopted.ts';
import {
  DEFAULT_ANNOTATION_LIMITS,
  type AnnotationLimits,
  type Excess,
} from '../../annotations/annotation-limits.ts';
import { annotationOf, sourceListKeys, type AnnotationKeys } from '../../annotations/annotation-keys.ts';
import type { Annotations } from '../../model.ts';
import { nameList } from '../../patterns/patterns.ts';
import { namedSources } from '../dependencies/dependencies.ts';
import { NO_ANNOTATIONS, NO_NAMES, type ObservedWorkload } from '../rows.ts';

/** The parts of a workload whose size its owner chooses. */
export type Sized = Pick<
  ObservedWorkload,
  'annotations' | 'podAnnotations' | 'uses' | 'mentions' | 'marks' | 'excess'
>;

/**
 * Applies the limits of the installation. Of what exceeds a limit, only the excess is kept: no list if one of the lists is too
 * long, no source if the pod template has too many. Takes time in proportion to the size of the input.
 */
export function withinLimits<Facts extends Sized>(facts: Facts, keys: AnnotationKeys): Facts {
  const limits = keys.limits ?? DEFAULT_ANNOTATION_LIMITS;
  const inTemplate = templateExcess(facts, limits);
  const within = inTemplate
    ? { ...facts, uses: NO_NAMES, mentions: NO_NAMES, marks: NO_NAMES, excess: inTemplate }
    : facts;
  const inLists = listExcess(within, keys, limits);
  if (!inLists) return within;
  const lists = listKeys(keys);
  return {
    ...within,
    annotations: without(facts.annotations, lists),
    podAnnotations: without(facts.podAnnotations, lists),
    excess: inTemplate ?? inLists,
  };
}

function templateExcess(
  { uses, mentions, marks, excess }: Sized,
  { sources }: AnnotationLimits,
): Excess | undefined {
  if (excess?.inTemplate) return excess;
  const given = Math.max(uses.length + mentions.length, marks.length);
  return given > sources ? { limit: 'sources', inTemplate: true, most: sources, given } : undefined;
}

/** No list is read before its length is checked. */
function listExcess(facts: Sized, keys: AnnotationKeys, limits: AnnotationLimits): Excess | undefined {
  const { annotations, podAnnotations } = facts;
  if (annotations === NO_ANNOTATIONS && podAnnotations === NO_ANNOTATIONS) return undefined;
  let cost = 0;
  let isAny = false;
  for (const key of listKeys(keys)) {
    for (const text of [annotationOf(annotations, key), annotationOf(podAnnotations, key)]) {
      if (text === undefined) continue;
      isAny = true;
      const excess = excessOf(text, limits);
      if (excess) return { ...excess, key };
      if (isOfPatterns(key, keys)) cost += nameList(text).cost;
      if (!(cost <= limits.patternCost))
        return { limit: 'patternCost', most: limits.patternCost, given: cost };
    }
  }
  return isAny ? sourcesExcess(facts, keys, limits) : undefined;
}

function sourcesExcess(
  facts: Sized,
  keys: AnnotationKeys,
  { sources }: AnnotationLimits,
): Excess | undefined {
  const given = new Set([...facts.uses, ...facts.mentions, ...namedSources(facts, keys).literal]).size;
  return given > sources ? { limit: 'sources', most: sources, given } : undefined;
}

function excessOf(text: string, limits: AnnotationLimits): Excess | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.listBytes) return { limit: 'listBytes', most: limits.listBytes, given: bytes };
  const { count } = nameList(text);
  return count > limits.listWords ? { limit: 'listWords', most: limits.listWords, given: count } : undefined;
}

function isOfPatterns(key: string, keys: AnnotationKeys): boolean {
  return key === keys.configMapReload || key === keys.secretReload || key === keys.secretProviderClassReload;
}

/** Returns the annotations that are lists of names or patterns. Computed once for each installation. */
export function listKeys(keys: AnnotationKeys): readonly string[] {
  const made = LIST_KEYS.get(keys) ?? allListKeys(keys);
  LIST_KEYS.set(keys, made);
  return made;
}

const LIST_KEYS = new WeakMap<AnnotationKeys, readonly string[]>();

function allListKeys(keys: AnnotationKeys): string[] {
  const adopted = keys.adopt?.flatMap((system) => Object.values(ADOPTED_LISTS[system])) ?? [];
  return [...sourceListKeys(keys), ...adopted];
}

function without(annotations: Annotations, keys: readonly string[]): Annotations {
  const kept = Object.entries(annotations).filter(([key]) => !keys.includes(key));
  return kept.length === 0 ? NO_ANNOTATIONS : Object.fromEntries(kept);
}
