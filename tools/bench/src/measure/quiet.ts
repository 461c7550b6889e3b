import { setTimeout as sleep } from 'node:timers/promises';
import type { RolloutWatch } from './rollout-watch.ts';

/** Long enough for controllers to have done all that follows from a write. */
const QUIET_MS = 1500;
/** Somebody may write without end: then what goes on is part of what is measured. */
const PATIENCE_MS = 60_000;

/** Resolves when no workload has been written for a while. Returns false when there is no end of it. */
export async function untilQuiet(watch: RolloutWatch, signal: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS;
  const began = performance.now();
  while (performance.now() < deadline) {
    watch.verify();
    const waited = performance.now() - began;
    if (Math.min(waited, watch.quietMs) >= QUIET_MS) return true;
    await sleep(50, undefined, { signal });
  }
  return false;
}
