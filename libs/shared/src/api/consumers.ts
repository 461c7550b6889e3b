import { z } from 'zod';
import { USE_KINDS } from '@reroll/core/convergence/container-uses';
import { sourceRef, time } from './common.ts';

/** One use of a source by a container, and whether the container has its current data. */
export const consumer = z
  .strictObject({
    pod: z.string(),
    /** Null: the pod itself, which uses it to pull images. */
    container: z.string().nullable(),
    /** `volume`: without a subPath. */
    use: z.enum(USE_KINDS),
    /** `unknown`: `why` says what is missing to tell. */
    state: z.enum(['current', 'stale', 'unknown']),
    /** `stale`: when the data that it lacks was written. */
    since: time.nullable(),
    why: z.string(),
  })
  .meta({ id: 'Consumer' });

export const consumers = z
  .strictObject({
    source: sourceRef,
    /** One sentence for the user: whether any container has older data. */
    conclusion: z.string(),
    /** False: the namespace has more pods than one request reads. */
    complete: z.boolean(),
    /** Number of uses, by state. */
    counts: z.strictObject({
      stale: z.number().int(),
      unknown: z.number().int(),
      current: z.number().int(),
    }),
    /** The first 500: stale ones first, then unknown ones. */
    items: z.array(consumer),
  })
  .meta({ id: 'Consumers' });

export type Consumer = z.infer<typeof consumer>;
export type Consumers = z.infer<typeof consumers>;
