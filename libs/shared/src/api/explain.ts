import { z } from 'zod';
import { accepted } from './audit.ts';
import {
  annotations,
  hash,
  reason,
  sourceKeyText,
  sourceRef,
  time,
  workloadKeyText,
  workloadRef,
} from './common.ts';

export const explainQuery = z.strictObject({ workload: workloadKeyText, source: sourceKeyText });

export const ruleStep = z
  .strictObject({
    rule: z.string(),
    outcome: z.enum(['reload', 'skip', 'pass']),
    /** Whether this rule decides: the first that does not pass. Later rules show what they would have said. */
    decides: z.boolean(),
    reason: reason.nullable(),
    detail: z.string(),
  })
  .meta({ id: 'RuleStep' });

const place = z
  .strictObject({
    by: z.enum(['env', 'envFrom', 'volume', 'projectedVolume', 'csiVolume']),
    /** Null: no container mounts the volume. */
    container: z.string().nullable(),
    init: z.boolean(),
    /** The name of the variable or volume. */
    name: z.string().nullable(),
  })
  .meta({ id: 'SourcePlace' });

export const explanation = z
  .strictObject({
    workload: workloadRef,
    source: sourceRef,
    /** One sentence for the user. */
    conclusion: z.string(),
    /** Whether a change of the source's data reloads the workload. */
    reloads: z.boolean(),
    reason,
    rules: z.array(ruleStep),
    use: z.strictObject({
      used: z.boolean(),
      /** Used only by a volume that no container mounts. */
      mentioned: z.boolean(),
      hasContainers: z.boolean(),
      /** Whether the deciding rule requires a use; otherwise any container carries the marker. */
      needed: z.boolean(),
      /** Every place in the pod template that refers to the source. Null: the catalog does not have them. */
      places: z.array(place).nullable(),
      detail: z.string(),
    }),
    /** Whether the rules say yes and a container can carry the marker. */
    edge: z.boolean(),
    record: z.strictObject({
      recorded: hash.nullable(),
      current: hash.nullable(),
      /** Null: nothing to compare, or hashes of different schemes or keys. */
      agrees: z.boolean().nullable(),
      /** Whether the entry is unverified, so that it counts as different. */
      doubtful: z.boolean(),
    }),
    due: z.strictObject({
      state: z.enum(['owed', 'correct']).nullable(),
      /** False: the state is unknown to the responder, and `state` is null. */
      known: z.boolean(),
      detail: z.string(),
    }),
    /** What else affects a reload. An item with `stops` prevents it although the rules say yes. */
    holds: z.array(z.strictObject({ reason, stops: z.boolean(), detail: z.string() })),
    /**
     * The source of the facts: the watchers' catalog, or metadata that the client read (the command line without an
     * admin).
     */
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

/** Why a reload is, or would be, held. */
const held = z.strictObject({ reason, until: time.nullable(), detail: z.string() });

const verdict = z.strictObject({
  workload: workloadRef,
  source: sourceRef,
  reloads: z.boolean(),
  reason,
  /** At most 500 characters: `explain` has the whole text. */
  detail: z.string(),
  /**
   * The wave in which the workload would reload, from 1. Null: there are no waves, or it is unknown because this is a preview of a
   * workload.
   */
  wave: z.number().int().nullable(),
  /**
   * Why the reload would be held now. Null: it would not. Waves and the limit of concurrent rollouts are not considered. If the Namespace
   * could not be read, the conclusion says so.
   */
  held: held.nullable(),
});

export const preview = z
  .strictObject({
    /** What a change would do, for each pair of source and workload: the first 10,000, beginning with those that would reload. */
    verdicts: z.array(verdict),
    /** With proposed annotations: the present verdicts of the pairs that differ. The first 10,000. */
    today: z.array(verdict),
    conclusion: z.string(),
  })
  .meta({ id: 'Preview' });

/** The response of a manual reload. */
export const reloadAccepted = accepted
  .extend({
    /** Why the reload waits now, by its annotations and those of its Namespace. Not of waves and the limit of concurrent rollouts. */
    held: held.optional(),
  })
  .meta({ id: 'ReloadAccepted' });

export type Explanation = z.infer<typeof explanation>;
export type PreviewRequest = z.infer<typeof previewRequest>;
export type Preview = z.infer<typeof preview>;
