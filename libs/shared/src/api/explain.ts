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
      mentioned: z.boolean(),
      hasContainers: z.boolean(),
      detail: z.string(),
    }),
    record: z.strictObject({
      recorded: hash.nullable(),
      current: hash.nullable(),
      agrees: z.boolean().nullable(),
    }),
    due: z.strictObject({ state: z.enum(['owed', 'correct']).nullable(), detail: z.string() }),
    /** Whatever holds a reload back although the rules say yes. */
    holds: z.array(z.strictObject({ reason, detail: z.string() })),
  })
  .meta({ id: 'Explanation' });

/** What if: a source's data changed; or a workload, or a source, had these annotations. Nothing is sent. */
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
