import type { AnnotationKeys } from '@reroll/core/annotation-keys';
import { pauseWish } from '@reroll/core/reload/pause';
import type { WorkloadNow } from './workload-reader.ts';

/**
 * How long (milliseconds) the rollout of this workload is to be held back when it is reloaded; undefined: not
 * at all, or it is paused already, by its owner or by an earlier reload whose pause then brings this one too.
 */
export function pauseOf(
  { definition, object, observed }: Pick<WorkloadNow, 'definition' | 'object' | 'observed'>,
  keys: AnnotationKeys,
): number | undefined {
  const wish = pauseWish(observed, keys);
  return wish.state === 'pause' && definition.isPaused?.(object) === false ? wish.period : undefined;
}
