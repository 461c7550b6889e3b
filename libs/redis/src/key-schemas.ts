import { z } from 'zod';
import {
  isKey,
  isSourceKey,
  isWorkloadKey,
  type Key,
  type SourceKey,
  type WorkloadKey,
} from '@reroll/core/model';

const A_SOURCE = 'expected <kind>/<namespace>/<name> of a source';
const A_WORKLOAD = 'expected <kind>/<namespace>/<name> of a workload';

/** Schemas of keys that are read from Redis, where whoever has the password can write anything. */
export const SOURCE_KEY = keyOf(isSourceKey, A_SOURCE);
export const WORKLOAD_KEY = keyOf(isWorkloadKey, A_WORKLOAD);

/** As above, but a key of a kind that only a newer version knows is read as `undefined`. */
export const KNOWN_SOURCE_KEY = keyOf(isNoWorkloadKey, A_SOURCE).transform((key) =>
  isSourceKey(key) ? key : undefined,
);
export const KNOWN_WORKLOAD_KEY = keyOf(isNoSourceKey, A_WORKLOAD).transform((key) =>
  isWorkloadKey(key) ? key : undefined,
);

function keyOf<Known extends string>(
  isOne: (text: string) => text is Known,
  expected: string,
): z.ZodType<Known, Known> {
  return z.custom<Known>((given) => typeof given === 'string' && isOne(given), expected);
}

function isNoWorkloadKey(text: string): text is Exclude<Key<string>, WorkloadKey> {
  return isKey(text) && !isWorkloadKey(text);
}

function isNoSourceKey(text: string): text is Exclude<Key<string>, SourceKey> {
  return isKey(text) && !isSourceKey(text);
}
