/**
 * Limits of the annotations and the pod template of one workload. A workload beyond a limit is left alone until its owner changes
 * it.
 */
export interface AnnotationLimits {
  /** Entries of one list. */
  readonly listWords: number;
  /** Bytes of one list. */
  readonly listBytes: number;
  /** Cost of all patterns in its lists together; see `patternCost`. */
  readonly patternCost: number;
  /** Sources that it uses, mentions or names literally. */
  readonly sources: number;
}

export const DEFAULT_ANNOTATION_LIMITS: AnnotationLimits = {
  listWords: 1_000,
  listBytes: 32_768,
  patternCost: 2_000,
  sources: 1_000,
};

/** The limit that a workload exceeds, and by how much. */
export interface Excess {
  readonly limit: keyof AnnotationLimits;
  /** Key of the annotation; absent if the pod template or several annotations together exceed the limit. */
  readonly key?: string;
  /** The pod template alone exceeds the limit, whatever the annotations. */
  readonly inTemplate?: true;
  readonly most: number;
  readonly given: number;
}

const EXPECTED: Readonly<Record<keyof AnnotationLimits, (most: number, given: number) => string>> = {
  listWords: (most, given) => `expected a list of at most ${most} entries, given ${given}`,
  listBytes: (most, given) => `expected a list of at most ${most} bytes, given ${given}`,
  patternCost: (most, given) => `expected patterns that cost at most ${most} together, given ${given}`,
  sources: (most, given) => `expected at most ${most} sources, given ${given}`,
};

/** Returns what was expected and what was given, for the owner. */
export function excessText({ limit, key, inTemplate, most, given }: Excess): string {
  const where = key ?? (inTemplate ? 'the pod template' : 'the pod template and the reload annotations');
  return `${where}: ${EXPECTED[limit](most, given)}`;
}

export function isSameExcess(a: Excess | undefined, b: Excess | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.limit === b.limit && a.key === b.key && a.inTemplate === b.inTemplate && a.given === b.given;
}
