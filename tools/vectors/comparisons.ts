import { z } from 'zod';

import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { envVarName } from '@reroll/core/marker/env-var-name';
import { markerHash } from '@reroll/core/marker/marker-hash';
import { sourceKindOfMarkerType } from '@reroll/core/marker/marker-type';
import { WORKLOAD_KINDS, type PodSpec } from '@reroll/core/model';
import { containerUsing } from '@reroll/core/references/references';
import { decideReload } from '@reroll/core/rules/decision';

/** The recorded answer of one line, and ours, both as JSON. */
export interface Comparison {
  readonly expected: string;
  readonly got: string;
}

/** Takes a parsed line; throws a `ZodError` if it is no line of that file. */
export type Compare = (line: unknown) => Comparison;

const texts = z
  .record(z.string(), z.string())
  .nullish()
  .transform((value) => value ?? {});

const markedKind = z.string().transform((type, context) => {
  const kind = sourceKindOfMarkerType(type);
  if (kind) return kind;
  context.addIssue('expected CONFIGMAP, SECRET or SECRETPROVIDERCLASS');
  return z.NEVER;
});

const decision = z.object({
  sourceKind: markedKind,
  sourceName: z.string(),
  sourceAnnotations: texts,
  workloadKind: z.enum(WORKLOAD_KINDS),
  annotations: texts,
  podAnnotations: texts,
  autoReloadAll: z.boolean().default(false),
  ignoredWorkloadTypes: z.array(z.string()).nullish(),
  shouldReload: z.boolean(),
  auto: z.boolean(),
  patternErrors: z.int(),
});

const container = z.object({
  sourceKind: markedKind,
  sourceName: z.string(),
  auto: z.boolean(),
  podSpec: z.custom<PodSpec>((value) => typeof value === 'object' && value !== null, 'expected a pod spec'),
  container: z.string().nullable(),
});

const hash = z.object({
  kind: z.enum(['ConfigMap', 'Secret']),
  data: texts,
  binaryData: texts,
  secretData: texts,
  sha1: z.string(),
});

const name = z.object({ source: z.string(), kind: markedKind, envVar: z.string() });

/** By the name of the file. */
export const COMPARISONS: Readonly<Record<string, Compare>> = {
  'decisions.jsonl': (line) => {
    const vector = decision.parse(line);
    const { shouldReload, auto, patternErrors } = vector;
    const made = decideReload({
      source: { kind: vector.sourceKind, name: vector.sourceName, annotations: vector.sourceAnnotations },
      workload: {
        kind: vector.workloadKind,
        annotations: vector.annotations,
        podAnnotations: vector.podAnnotations,
      },
      settings: {
        keys: DEFAULT_ANNOTATION_KEYS,
        autoReloadAll: vector.autoReloadAll,
        ignoredWorkloadTypes: vector.ignoredWorkloadTypes ?? [],
      },
    });
    return compare(
      { shouldReload, auto, patternErrors },
      { shouldReload: made.reload, auto: made.auto, patternErrors: made.patternErrors.length },
    );
  },
  'containers.jsonl': (line) => {
    const { sourceKind, sourceName, auto, podSpec, container: expected } = container.parse(line);
    const index = containerUsing(podSpec, { kind: sourceKind, name: sourceName }, auto);
    const got = index === null ? null : podSpec.containers?.[index]?.name;
    return compare({ container: expected }, { container: got });
  },
  'hashes.jsonl': (line) => {
    const { kind, data, binaryData, secretData, sha1 } = hash.parse(line);
    const source = kind === 'Secret' ? { data: secretData } : { data, binaryData };
    return compare({ sha1 }, { sha1: markerHash(kind, source) });
  },
  'env-var-names.jsonl': (line) => {
    const { source, kind, envVar } = name.parse(line);
    return compare({ envVar }, { envVar: envVarName(kind, source) });
  },
};

function compare(expected: unknown, got: unknown): Comparison {
  return { expected: JSON.stringify(expected), got: JSON.stringify(got) };
}
