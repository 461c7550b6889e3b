import { z } from 'zod';
import { USE_KINDS } from '@reroll/core/convergence/container-uses';
import { sourceRef, time } from './common.ts';

/** One way in which one container uses a source, and whether it has the present data. */
export const consumer = z
  .strictObject({
    pod: z.string(),
    /** Null: the pod as a whole, which pulls images with it. */
    container: z.string().nullable(),
    /** `volume`: without a subPath. */
    use: z.enum(USE_KINDS),
    /** `unknown`: nothing tells; `why` says what is missing. */
    state: z.enum(['current', 'stale', 'unknown']),
    /** `stale`: when the data that it does not have was written. */
    since: time.nullable(),
    why: z.string(),
  })
  .meta({ id: 'Consumer' });

export const consumers = z
  .strictObject({
    source: sourceRef,
    /** One sentence for the user: whether anybody still has older data. */
    conclusion: z.string(),
    /** False: the namespace has more pods than were looked at in this request. */
    complete: z.boolean(),
    /** How many uses were found, by state. */
    counts: z.strictObject({
      stale: z.number().int(),
      unknown: z.number().int(),
      current: z.number().int(),
    }),
    /** The first 500: first what is stale, then what is unknown. */
    items: z.array(consumer),
  })
  .meta({ id: 'Consumers' });

export type Consumer = z.infer<typeof consumer>;
export type Consumers = z.infer<typeof consumers>;
