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
  /** Sources that it uses, mentions or names literally, and sources that it depends on. */
  readonly sources: number;
  /** Sources that it uses, mentions, names, depends on or has recorded, and those of the other workloads of its namespace. */
  readonly namespaceSources: number;
}

/** Sources of each workload that do not count towards `namespaceSources`. */
export const UNCOUNTED = 20;

export const DEFAULT_ANNOTATION_LIMITS: AnnotationLimits = {
  listWords: 1_000,
  listBytes: 32_768,
  patternCost: 2_000,
  sources: 1_000,
  namespaceSources: 100_000,
};

/** The limit that a workload exceeds, and by how much. */
export interface Excess {
  readonly limit: keyof AnnotationLimits;
  /** Key of the annotation; absent if the pod template or several annotations together exceed the limit. */
  readonly key?: string;
  /** The pod template alone exceeds the limit, whatever the annotations. */
  readonly inTemplate?: true;
  /** What else is in the namespace makes the workload exceed the limit. Only the cluster state can tell. */
  readonly inNamespace?: true;
  readonly most: number;
  readonly given: number;
}

const EXPECTED: Readonly<Record<keyof AnnotationLimits, (most: number) => string>> = {
  listWords: (most) => `a list of at most ${most} entries`,
  listBytes: (most) => `a list of at most ${most} bytes`,
  patternCost: (most) => `patterns that cost at most ${most} together`,
  sources: (most) => `at most ${most} sources`,
  namespaceSources: (most) =>
    `at most ${most} sources of all workloads together, not counting ${UNCOUNTED} of each`,
};

/** Returns what was expected and what was given, for the owner. */
export function excessText(excess: Excess): string {
  const { limit, most, given, inNamespace } = excess;
  return `${whereOf(excess)}: expected ${EXPECTED[limit](most)}, given ${inNamespace ? 'at least ' : ''}${given}`;
}

function whereOf({ limit, key, inTemplate, inNamespace }: Excess): string {
  if (limit === 'namespaceSources') return 'the namespace';
  if (inNamespace) return 'what the reload annotations match';
  return key ?? (inTemplate ? 'the pod template' : 'the pod template and the reload annotations');
}

export function isSameExcess(a: Excess | undefined, b: Excess | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return FIELDS.every((field) => a[field] === b[field]);
}

const FIELDS = ['limit', 'key', 'inTemplate', 'inNamespace', 'given'] as const;
