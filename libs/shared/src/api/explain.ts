import { z } from 'zod';
import {
  annotations,
  hash,
  reason,
  sourceKeyText,
  sourceRef,
  workloadKeyText,
  workloadRef,
} from './common.ts';

export const explainQuery = z.strictObject({ workload: workloadKeyText, source: sourceKeyText });

export const ruleStep = z
  .strictObject({
    rule: z.string(),
    outcome: z.enum(['reload', 'skip', 'pass']),
    /** The first rule with an opinion; what stands after it is what it would have said. */
    decides: z.boolean(),
    reason: reason.nullable(),
    detail: z.string(),
  })
  .meta({ id: 'RuleStep' });

const place = z
  .strictObject({
    by: z.enum(['env', 'envFrom', 'volume', 'projectedVolume', 'csiVolume']),
    /** Null: a volume that nothing mounts. */
    container: z.string().nullable(),
    init: z.boolean(),
    /** Of the variable or the volume. */
    name: z.string().nullable(),
  })
  .meta({ id: 'SourcePlace' });

export const explanation = z
  .strictObject({
    workload: workloadRef,
    source: sourceRef,
    /** One sentence for a person. */
    conclusion: z.string(),
    /** Whether a change of the source's data rolls the workload. */
    reloads: z.boolean(),
    reason,
    rules: z.array(ruleStep),
    use: z.strictObject({
      used: z.boolean(),
      /** Only by a volume that no container mounts. */
      mentioned: z.boolean(),
      hasContainers: z.boolean(),
      /** Whether the rule that decides asks for a use; otherwise any container carries the marker. */
      needed: z.boolean(),
      /** Every place of the pod template that refers to the source; null: the catalog does not tell. */
      places: z.array(place).nullable(),
      detail: z.string(),
    }),
    /** The rules say yes, and a container can carry the marker. */
    edge: z.boolean(),
    record: z.strictObject({
      recorded: hash.nullable(),
      current: hash.nullable(),
      /** Null: nothing to compare, or hashes of different schemes or keys. */
      agrees: z.boolean().nullable(),
      /** It was seen to be false for the present pod template, so it counts as different. */
      doubtful: z.boolean(),
    }),
    due: z.strictObject({
      state: z.enum(['owed', 'correct']).nullable(),
      /** False: whoever answers cannot tell, and `state` is null. */
      known: z.boolean(),
      detail: z.string(),
    }),
    /** What else bears on a reload; whatever `stops` it does so although the rules say yes. */
    holds: z.array(z.strictObject({ reason, stops: z.boolean(), detail: z.string() })),
    /** Who told of the objects: the watchers, or a read of metadata by whoever asks (the command line without admin). */
    facts: z.enum(['catalog', 'cluster']),
  })
  .meta({ id: 'Explanation' });

/**
 * A preview: what happens if the source's data changes and, with annotations, the workload or source has these instead of
 * its own. Annotations that the rules do not read are ignored. Without `podAnnotations`, the present ones apply. Nothing
 * is sent.
 */
export const previewRequest = z
  .discriminatedUnion('of', [
    z.strictObject({ of: z.literal('source'), source: sourceRef, annotations: annotations.optional() }),
    z.strictObject({
      of: z.literal('workload'),
      workload: workloadRef,
      annotations,
      podAnnotations: annotations.optional(),
    }),
  ])
  .meta({ id: 'PreviewRequest' });

const verdict = z.strictObject({
  workload: workloadRef,
  source: sourceRef,
  reloads: z.boolean(),
  reason,
  detail: z.string(),
});

export const preview = z
  .strictObject({
    /** What a change would do, pair by pair. */
    verdicts: z.array(verdict),
    /** With proposed annotations: what is so today, of the pairs of which it differs. */
    today: z.array(verdict),
    conclusion: z.string(),
  })
  .meta({ id: 'Preview' });

export type Explanation = z.infer<typeof explanation>;
export type PreviewRequest = z.infer<typeof previewRequest>;
export type Preview = z.infer<typeof preview>;
