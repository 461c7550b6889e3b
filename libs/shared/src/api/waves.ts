import { z } from 'zod';
import { WAVE_STATES } from '@reroll/core/holds/wave-plan';
import { hash, time, workloadRef } from './common.ts';

const waveMember = z
  .strictObject({
    workload: workloadRef,
    /** Whether its pods have the present data, or are being replaced for it. */
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
        '`waiting`: for an earlier wave. `underWay`: some of it is not reloaded or rolled out yet. `baking`: it is observed for the bake ' +
        'time. `halted`: a workload of it has failed, and others wait until that is resolved. `failed`: the same, and nobody waits. `done`: ' +
        'the next wave may begin, or has.',
    }),
    /** `baking`: when the next wave may begin. */
    until: time.nullable(),
    /** How many workloads it has, and how many of them are reloaded. */
    size: z.number().int(),
    reloaded: z.number().int(),
    /** Its first workloads, in the order in which they reload. */
    workloads: z.array(waveMember),
  })
  .meta({ id: 'Wave' });

/** How the change that brings the present data proceeds. If no workload waits for it, every wave is done. */
export const waves = z
  .strictObject({
    /** Of the present data, as `hash` of the source. */
    hash: hash.nullable(),
    /** In the form of `reroll.dev/waves`. Null: changes come to all workloads at once. */
    waves: z.string().nullable(),
    /** In the form of `reroll.dev/bake`. Null: none. */
    bake: z.string().nullable(),
    /** Null: there are no waves, or `problem` tells why they are not known. */
    plan: z.array(wave).nullable(),
    /** Why the plan is not known, or is missing what the Namespace says. */
    problem: z.string().nullable(),
    /** The workload for which the others wait. */
    halted: waveMember.nullable(),
    /** Whether somebody has let the change go on after a failed rollout. */
    resumed: z.boolean(),
  })
  .meta({ id: 'Waves' });

export type Waves = z.infer<typeof waves>;
