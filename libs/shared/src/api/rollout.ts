import { z } from 'zod';
import { time } from './common.ts';

/** The progress of a workload's pods towards its present pod template. */
export const rollout = z
  .strictObject({
    state: z.enum(['progressing', 'complete', 'stuck']),
    code: z.string().meta({ description: 'E.g. Updating, OldPodsPending, ProgressDeadlineExceeded.' }),
    generation: z.number().int().optional(),
    updated: z.number().int().optional(),
    ready: z.number().int().optional(),
    desired: z.number().int().optional(),
    since: time.optional(),
    at: time.optional(),
    conditions: z
      .array(
        z.strictObject({
          type: z.string(),
          status: z.string(),
          reason: z.string(),
          message: z.string().optional(),
        }),
      )
      .default([]),
    /** Only with `--rollout-details`. */
    pods: z
      .array(
        z.strictObject({ name: z.string(), container: z.string(), reason: z.string(), message: z.string() }),
      )
      .optional(),
  })
  .meta({ id: 'Rollout' });
