import { z } from 'zod';
import { WAVE_STATES } from '@reroll/core/holds/wave-plan';
import { hash, time, workloadRef } from './common.ts';

const waveMember = z
  .strictObject({
    workload: workloadRef,
    /** Whether its pods have the current data, or are being replaced for it. */
    reloaded: z.boolean(),
    /** `is rolling out` */
    detail: z.string(),
  })
  .meta({ id: 'WaveMember' });

const wave = z
  .strictObject({
    state: z.enum(WAVE_STATES).meta({
      id: 'WaveState',
      description:
        '`waiting`: for an earlier wave. `underWay`: some workloads are not rolled out yet. `baking`: observed for the bake time. ' +
        '`halted`: a workload failed, and others wait. `failed`: a workload failed, and none waits. `done`: the next wave may begin.',
    }),
    /** `baking`: when the next wave may begin. */
    until: time.nullable(),
    /** Number of its workloads, and of those that are reloaded. */
    size: z.number().int(),
    reloaded: z.number().int(),
    /** Its first workloads, in the order of their reloads. */
    workloads: z.array(waveMember),
  })
  .meta({ id: 'Wave' });

/** The progress of the change to the current data. If no workload waits for it, every wave is done. */
export const waves = z
  .strictObject({
    /** Hash of the current data, as `hash` of the source. */
    hash: hash.nullable(),
    /** In the form of `reroll.dev/waves`. Null: changes come to all workloads at once. */
    waves: z.string().nullable(),
    /** In the form of `reroll.dev/bake`. Null: none. */
    bake: z.string().nullable(),
    /** Null: there are no waves, or they are unknown (see `problem`). */
    plan: z.array(wave).nullable(),
    /** Why the plan is unknown, or lacks the settings of the Namespace. */
    problem: z.string().nullable(),
    /** The workload for which the others wait. */
    halted: waveMember.nullable(),
    /** Whether a user resumed the change after a failed rollout. */
    resumed: z.boolean(),
  })
  .meta({ id: 'Waves' });

export type Waves = z.infer<typeof waves>;
