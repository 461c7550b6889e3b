import { z } from 'zod';
import { isSourceKey, isWorkloadKey, type SourceKey, type WorkloadKey } from '@reroll/core/model';

/** Keys in what is read from Redis, where whoever has the password can write anything. */
export const SOURCE_KEY = z.custom<SourceKey>(
  (given) => typeof given === 'string' && isSourceKey(given),
  'expected <kind>/<namespace>/<name> of a source',
);
export const WORKLOAD_KEY = z.custom<WorkloadKey>(
  (given) => typeof given === 'string' && isWorkloadKey(given),
  'expected <kind>/<namespace>/<name> of a workload',
);
